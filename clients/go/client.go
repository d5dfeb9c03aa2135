// Package signalbox is the Go client of signalbox, the gRPC sidecar that routes prompts to
// commands, tools and skills, guards loops and keeps a journal.
//
// [Client] makes the calls, [Client.WithLoop] runs a guarded loop, [Client.FollowEvents] reads the
// journal through restarts, package signalboxpb has the messages and enums, and [DetailsOf] reads
// what a failed call says.
package signalbox

import (
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

// maxReceivedBytes is the largest answer taken: a page of 1,000 entries can be larger than gRPC's
// own limit of 4 MiB.
const maxReceivedBytes = 64 << 20

// goodbyeTime is what the end of a loop may take.
const goodbyeTime = 5 * time.Second

// Client calls one signalbox. It has the methods of all services, and may be used by several
// goroutines. A unary call that was refused, or that found no server, is made again as its
// RetryPolicy says, within its context's deadline; one that would do something twice is not.
type Client struct {
	pb.RouteServiceClient
	pb.CatalogServiceClient
	pb.LoopServiceClient
	pb.JournalServiceClient
	pb.KnowledgeServiceClient
	pb.SystemServiceClient
	// Health asks for "", a service's full name, "startup", "readiness" or "liveness".
	Health healthpb.HealthClient

	conn *grpc.ClientConn
}

// New makes a client of "host:port" or "unix:///path/to/socket", without TLS: a sidecar is reached
// within its pod. The first call connects. The options come after New's own and override them.
func New(target string, options ...grpc.DialOption) (*Client, error) {
	return NewWithRetry(target, DefaultRetry, options...)
}

// NewWithRetry is New with another policy; RetryPolicy{} makes each call once.
func NewWithRetry(target string, retry RetryPolicy, options ...grpc.DialOption) (*Client, error) {
	all := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceivedBytes)),
		grpc.WithChainUnaryInterceptor(retrying(retry)),
		// What is repeated, and when, is for the policy to say.
		grpc.WithDisableRetry(),
		// A proxy named by the environment is for the world outside the pod.
		grpc.WithNoProxy(),
	}
	if strings.HasPrefix(target, "unix:") || strings.HasPrefix(target, "unix-abstract:") {
		// A socket's path is no HTTP/2 authority: servers in Rust answer it with a reset.
		all = append(all, grpc.WithAuthority("localhost"))
	}
	conn, err := grpc.NewClient(target, append(all, options...)...)
	if err != nil {
		return nil, err
	}
	return &Client{
		RouteServiceClient:     pb.NewRouteServiceClient(conn),
		CatalogServiceClient:   pb.NewCatalogServiceClient(conn),
		LoopServiceClient:      pb.NewLoopServiceClient(conn),
		JournalServiceClient:   pb.NewJournalServiceClient(conn),
		KnowledgeServiceClient: pb.NewKnowledgeServiceClient(conn),
		SystemServiceClient:    pb.NewSystemServiceClient(conn),
		Health:                 healthpb.NewHealthClient(conn),
		conn:                   conn,
	}, nil
}

// Close closes the connection; calls in flight end with codes.Canceled.
func (c *Client) Close() error {
	return c.conn.Close()
}
