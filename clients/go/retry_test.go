package signalbox

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

// failing answers every method with the errors queued, then with an empty message.
type failing struct {
	mutex    sync.Mutex
	failures []error
	ids      []string
	calls    int
}

func (f *failing) answer(_ any, stream grpc.ServerStream) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	request := &pb.AppendEventsRequest{}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	f.calls++
	f.ids = append(f.ids, request.RequestId)
	if len(f.failures) > 0 {
		first := f.failures[0]
		f.failures = f.failures[1:]
		return first
	}
	return stream.SendMsg(&emptypb.Empty{})
}

// serveFailing starts such a server and answers a client of it.
func serveFailing(t *testing.T, failures ...error) (*failing, *Client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := &failing{failures: failures}
	server := grpc.NewServer(grpc.UnknownServiceHandler(handler.answer))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	fast := RetryPolicy{Attempts: 4, Base: time.Millisecond, Cap: 10 * time.Millisecond}
	client, err := NewWithRetry(listener.Addr().String(), fast)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return handler, client
}

func detailed(code codes.Code, reason string) error {
	made, err := status.New(code, reason).WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: "signalbox"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Millisecond)})
	if err != nil {
		panic(err)
	}
	return made.Err()
}

var (
	unavailable = status.Error(codes.Unavailable, "gone")
	overloaded  = detailed(codes.ResourceExhausted, "OVERLOADED")
)

func TestWhatIsRepeated(t *testing.T) {
	route := func(ctx context.Context, c *Client) error {
		_, err := c.Route(ctx, &pb.RouteRequest{})
		return err
	}
	remove := func(ctx context.Context, c *Client) error {
		_, err := c.DeleteEntry(ctx, &pb.DeleteEntryRequest{})
		return err
	}
	for name, test := range map[string]struct {
		failures []error
		call     func(context.Context, *Client) error
		calls    int
		code     codes.Code
	}{
		"a read, gone":          {[]error{unavailable, unavailable, unavailable}, route, 4, codes.OK},
		"a read, overloaded":    {[]error{overloaded}, route, 2, codes.OK},
		"too often":             {[]error{overloaded, overloaded, overloaded, overloaded, nil}, route, 4, codes.ResourceExhausted},
		"a mistake":             {[]error{detailed(codes.InvalidArgument, "INVALID_FIELD")}, route, 1, codes.InvalidArgument},
		"full":                  {[]error{detailed(codes.ResourceExhausted, "CATALOG_FULL")}, route, 1, codes.ResourceExhausted},
		"done twice":            {[]error{unavailable}, remove, 1, codes.Unavailable},
		"refused, so not twice": {[]error{overloaded}, remove, 2, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			handler, client := serveFailing(t, test.failures...)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if code := status.Code(test.call(ctx, client)); code != test.code {
				t.Errorf("ended with %s, not %s", code, test.code)
			}
			if handler.calls != test.calls {
				t.Errorf("called %d times, not %d", handler.calls, test.calls)
			}
		})
	}
}

func TestRepeatedCallsHaveOneRequestID(t *testing.T) {
	handler, client := serveFailing(t, unavailable, unavailable)
	request := &pb.AppendEventsRequest{LoopId: "l"}
	if _, err := client.AppendEvents(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if len(handler.ids) != 3 || handler.ids[0] == "" || handler.ids[0] != handler.ids[2] {
		t.Errorf("the request ids are %q", handler.ids)
	}
	if request.RequestId != "" {
		t.Error("the caller's request was changed")
	}
	named := &pb.CreateLoopRequest{RequestId: "mine"}
	if identified(named) != any(named) {
		t.Error("a request that has its id was copied")
	}
	plain := &pb.RouteRequest{Prompt: "x"}
	if !proto.Equal(identified(plain).(proto.Message), plain) {
		t.Error("a request without such a field was changed")
	}
}

func TestADeadlineIsOverAllCalls(t *testing.T) {
	handler, _ := serveFailing(t)
	slow := RetryPolicy{Attempts: 9, Base: time.Minute, Cap: time.Minute}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	calls := 0
	invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		calls++
		return unavailable
	}
	err := retrying(slow)(ctx, "/s/Route", &pb.RouteRequest{}, nil, nil, invoke)
	if status.Code(err) != codes.Unavailable || calls != 1 || handler.calls != 0 {
		t.Errorf("%d calls, then %v: a minute has no room in twenty seconds", calls, err)
	}
}

func TestWaitsGrowAndObeyTheServer(t *testing.T) {
	policy := RetryPolicy{Attempts: 6, Base: 100 * time.Millisecond, Cap: 500 * time.Millisecond}
	for failures, longest := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond,
		4: 500 * time.Millisecond, 5: 500 * time.Millisecond,
	} {
		wait, again := policy.wait(failures, Details{})
		if !again || wait < longest/2 || wait > longest {
			t.Errorf("after %d failures: %s, %t", failures, wait, again)
		}
	}
	if _, again := policy.wait(6, Details{}); again {
		t.Error("does not give up")
	}
	if wait, _ := policy.wait(1, Details{RetryAfter: 7 * time.Second}); wait != 7*time.Second {
		t.Errorf("the server's seven seconds became %s", wait)
	}
	if _, again := (RetryPolicy{}).wait(1, Details{}); again {
		t.Error("the zero policy repeats")
	}
}
