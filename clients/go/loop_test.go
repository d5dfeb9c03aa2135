package signalbox_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	signalbox "github.com/signalbox-dev/signalbox/clients/go"
	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

func custom(name string) *pb.NewLoopEvent {
	event := &pb.LoopEvent{Event: &pb.LoopEvent_Custom{Custom: &pb.Custom{Name: name}}}
	return &pb.NewLoopEvent{Event: event}
}

// stuck reports the same failure until the guard says stop.
func stuck(ctx context.Context, loop *signalbox.Loop) error {
	for range 10 {
		call, err := signalbox.Call("push", map[string]any{"b": 1, "a": "main"}, "", errors.New("rejected"))
		if err != nil {
			return err
		}
		verdict, err := loop.Report(ctx, &pb.ReportedStep{Calls: []*pb.ReportedCall{call}})
		if err != nil {
			return err
		}
		if verdict.Decision == pb.GuardDecision_GUARD_DECISION_STOP {
			return nil
		}
	}
	return errors.New("never stopped")
}

func TestLoopEndsAsTheServerSeesIt(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		request := &pb.CreateLoopRequest{
			Tools:  []*pb.LoopTool{{Name: "push"}, {Name: "delete_all"}},
			Config: &pb.LoopConfig{ToolProfile: &pb.ToolProfile{Exclude: []string{"delete*"}}},
		}
		ended, err := client.WithLoop(ctx, request, func(ctx context.Context, loop *signalbox.Loop) error {
			kept := signalbox.Kept(request.Tools, loop.Tools)
			if len(kept) != 1 || kept[0] != request.Tools[0] {
				t.Errorf("kept %v", kept)
			}
			if state, err := loop.State(ctx); err != nil || state.LoopId != loop.ID {
				t.Errorf("state %v, %v", state, err)
			}
			return stuck(ctx, loop)
		})
		if err != nil || ended.GetReason() != pb.TerminationReason_TERMINATION_REASON_STUCK {
			t.Errorf("ended as %v, %v", ended, err)
		}
	})
}

func TestLoopEndsAsAnError(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		broken := errors.New("the agent broke")
		ended, err := client.WithLoop(ctx, &pb.CreateLoopRequest{},
			func(context.Context, *signalbox.Loop) error { return broken })
		if !errors.Is(err, broken) || ended.GetReason() != pb.TerminationReason_TERMINATION_REASON_ERROR ||
			ended.GetDetail() != broken.Error() {
			t.Errorf("ended as %v, %v", ended, err)
		}

		var id string
		func() {
			defer func() { _ = recover() }()
			_, _ = client.WithLoop(ctx, &pb.CreateLoopRequest{},
				func(_ context.Context, loop *signalbox.Loop) error {
					id = loop.ID
					panic("the agent panicked")
				})
		}()
		answer, err := client.GetLoop(ctx, &pb.GetLoopRequest{LoopId: id})
		if err != nil || answer.Loop.Terminated.GetDetail() != "panicked" {
			t.Errorf("after a panic: %v, %v", answer, err)
		}
	})
}

func TestLoopCountsSteps(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		two := int32(2)
		request := &pb.CreateLoopRequest{Config: &pb.LoopConfig{
			StepIteration: &pb.StepIteration{MaxReattemptsPerStep: &two},
		}}
		_, err := client.WithLoop(ctx, request, func(ctx context.Context, loop *signalbox.Loop) error {
			if err := loop.BeginStep(ctx, "one"); err != nil {
				return err
			}
			if _, err := loop.Failed(ctx, "one", "", "no route to host"); err != nil {
				return err
			}
			second, err := loop.Failed(ctx, "one", "", "permission denied")
			if err == nil && second.Attempts != 2 {
				err = fmt.Errorf("%d attempts", second.Attempts)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestLoopKeepsItsLease(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		request := &pb.CreateLoopRequest{Lease: durationpb.New(time.Second)}
		_, err := client.WithLoop(ctx, request, func(ctx context.Context, loop *signalbox.Loop) error {
			time.Sleep(2500 * time.Millisecond)
			state, err := loop.State(ctx)
			if err == nil && state.Terminated != nil {
				err = fmt.Errorf("ended: %v", state.Terminated)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestJournalIsReadInOrder(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		loop := "journal-" + rand.Text()
		events := []*pb.NewLoopEvent{custom("a"), custom("b"), custom("c")}
		if _, err := client.AppendEvents(ctx, &pb.AppendEventsRequest{LoopId: loop, Events: events}); err != nil {
			t.Fatal(err)
		}
		follower := client.FollowEvents(ctx, &pb.StreamEventsRequest{LoopId: loop})
		first, err := follower.Next()
		if err != nil || first.Event.GetCustom().GetName() != "a" {
			t.Fatalf("first %v, %v", first, err)
		}
		follower.Close()
		rest := client.FollowEvents(ctx, &pb.StreamEventsRequest{
			LoopId: loop, Position: follower.Position(), ReplayOnly: true,
		})
		var names []string
		for entry, err := range rest.All() {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, entry.Event.GetCustom().GetName())
		}
		if got := strings.Join(names, " "); got != "b c" {
			t.Errorf("the rest is %q", got)
		}
		foreign := client.FollowEvents(ctx, &pb.StreamEventsRequest{
			LoopId: "other", Position: follower.Position(),
		})
		if _, err := foreign.Next(); signalbox.DetailsOf(err).Reason != "FOREIGN_POSITION" {
			t.Errorf("another loop's position: %v", err)
		}
	})
}

func TestJournalFollowerEndsWithClose(t *testing.T) {
	eachDoor(t, func(t *testing.T, ctx context.Context, client *signalbox.Client) {
		follower := client.FollowEvents(ctx, &pb.StreamEventsRequest{LoopId: "quiet-" + rand.Text()})
		time.AfterFunc(300*time.Millisecond, follower.Close)
		if _, err := follower.Next(); status.Code(err) != codes.Canceled {
			t.Errorf("ended with %v", err)
		}
	})
}

// Case 22: 100 events, cut at 37, 10 more, resumed: each once, in order.
func TestJournalFollowerOutlivesTheServer(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	kill := spawn(t, address, data)
	client, err := signalbox.New(address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	appendRange := func(from, to int) {
		request := &pb.AppendEventsRequest{LoopId: "l"}
		for n := from; n <= to; n++ {
			request.Events = append(request.Events, custom(fmt.Sprint(n)))
		}
		if _, err := client.AppendEvents(ctx, request); err != nil {
			t.Fatal(err)
		}
	}
	appendRange(1, 100)
	follower := client.FollowEvents(ctx, &pb.StreamEventsRequest{LoopId: "l"})
	defer follower.Close()
	for n := 1; n <= 110; n++ {
		if n == 38 {
			kill()
			spawn(t, address, data)
			appendRange(101, 110)
		}
		entry, err := follower.Next()
		if err != nil {
			t.Fatal(err)
		}
		if entry.Event.GetCustom().GetName() != fmt.Sprint(n) || entry.Sequence != int64(n) {
			t.Fatalf("event %d is %v", n, entry)
		}
	}
}

func TestOrchestratorRuns(t *testing.T) {
	binary := t.TempDir() + "/orchestrator"
	if output, err := exec.Command("go", "build", "-o", binary, "./examples/orchestrator").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for name, target := range doors {
		t.Run(name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), binary, "Create a branch for the login feature")
			command.Env = append(os.Environ(), "SIGNALBOX_TARGET="+target)
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			for _, part := range []string{"git-branch", "sees 1 tool", "ended: TERMINATION_REASON_STUCK", "LoopEvent_Terminated"} {
				if !strings.Contains(string(output), part) {
					t.Errorf("no %q in\n%s", part, output)
				}
			}
		})
	}
}
