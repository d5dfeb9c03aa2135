package signalbox_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	signalbox "github.com/signalbox-dev/signalbox/clients/go"
	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

const prompt = "Create a branch for the payment form"

func TestRoute(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		answer, err := client.Route(ctx, &pb.RouteRequest{Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Matches) == 0 || answer.Matches[0].Entry.Name != "git-branch" {
			t.Errorf("git-branch is not the best of %v", answer.Matches)
		}
		if answer.CatalogRevision == "" {
			t.Error("no catalogue revision")
		}
	})
}

func TestStreamRoute(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		stream, err := client.StreamRoute(ctx,
			&pb.StreamRouteRequest{Route: &pb.RouteRequest{Prompt: "/git-branch"}})
		if err != nil {
			t.Fatal(err)
		}
		var messages []*pb.StreamRouteResponse
		for {
			message, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, message)
		}
		if len(messages) != 2 || messages[0].GetExactCommand() == nil {
			t.Fatalf("want the exact command and the decision, got %v", messages)
		}
		answer, err := client.Route(ctx, &pb.RouteRequest{Prompt: "/git-branch"})
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(messages[1].GetDecision(), answer) {
			t.Errorf("the stream decided\n%v\nand the call\n%v", messages[1].GetDecision(), answer)
		}
	})
}

func TestErrorNamesReasonAndField(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		_, err := client.Route(ctx, &pb.RouteRequest{Prompt: " "})
		read := signalbox.DetailsOf(err)
		if read.Code != codes.InvalidArgument || read.Reason != "INVALID_FIELD" ||
			read.Domain != "signalbox" {
			t.Errorf("got %+v", read)
		}
		if len(read.Violations) != 1 || read.Violations[0].Field != "prompt" {
			t.Errorf("violations %+v do not name the prompt alone", read.Violations)
		}
	})
}

func TestMissingEntry(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		_, err := client.GetEntry(ctx, &pb.GetEntryRequest{Name: "nowhere"})
		read := signalbox.DetailsOf(err)
		if read.Code != codes.NotFound || read.Reason != "ENTRY_NOT_FOUND" ||
			read.Metadata["name"] != "nowhere" {
			t.Errorf("got %+v", read)
		}
	})
}

func TestUpsertIsRoutable(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		entry := &pb.Entry{
			Kind:           pb.EntryKind_ENTRY_KIND_TOOL,
			Source:         t.Name(),
			Name:           "polish-quuxle",
			Responsibility: "Polish the quuxle.",
			Examples:       []string{"Polish the quuxle"},
		}
		_, err := client.UpsertEntries(ctx, &pb.UpsertEntriesRequest{Entries: []*pb.Entry{entry}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Route(ctx, &pb.RouteRequest{Prompt: "Polish the quuxle"})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Matches) == 0 || answer.Matches[0].Entry.Name != entry.Name {
			t.Errorf("%s is not the best of %v", entry.Name, answer.Matches)
		}
	})
}

func TestHealth(t *testing.T) {
	services := []string{
		"", "startup", "readiness", "liveness", serviceName(pb.RouteService_Route_FullMethodName),
	}
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		for _, service := range services {
			answer, err := client.Health.Check(ctx, &healthpb.HealthCheckRequest{Service: service})
			if err != nil {
				t.Fatalf("%q: %v", service, err)
			}
			if answer.Status != healthpb.HealthCheckResponse_SERVING {
				t.Errorf("%q is %s", service, answer.Status)
			}
		}
	})
}

func TestNobodyThere(t *testing.T) {
	client, err := signalbox.New("unix:///nonexistent/door.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.GetServerInfo(t.Context(), &pb.GetServerInfoRequest{})
	read := signalbox.DetailsOf(err)
	if read.Code != codes.Unavailable || read.Reason != "" {
		t.Errorf("got %+v", read)
	}
}

func TestDetailsOfNoError(t *testing.T) {
	if read := signalbox.DetailsOf(nil); read.Code != codes.OK || read.Reason != "" {
		t.Errorf("got %+v", read)
	}
}
