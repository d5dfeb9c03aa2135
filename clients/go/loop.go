package signalbox

import (
	"context"
	"errors"
	"fmt"
	"sync"

	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

// Loop is a guarded loop, begun by [Client.WithLoop].
type Loop struct {
	// ID of the loop.
	ID string
	// Tools says what the tool profile kept and dropped, and why.
	Tools *pb.FilteredTools

	client *Client
}

// WithLoop begins a loop, runs the body and ends the loop: as an error if the body answers one or
// panics, else as the server sees it. It answers how the loop ended, and the body's error.
//
// While the body runs, an open stream keeps the loop's lease, however long a tool takes; if this
// process dies, the loop ends as ABANDONED once the lease has run out.
func (c *Client) WithLoop(ctx context.Context, request *pb.CreateLoopRequest,
	body func(context.Context, *Loop) error) (ended *pb.Terminated, err error) {
	created, err := c.CreateLoop(ctx, request)
	if err != nil {
		return nil, err
	}
	loop := &Loop{ID: created.GetLoop().GetLoopId(), Tools: created.Tools, client: c}
	release := c.keepLease(ctx, loop.ID)
	finished := false
	defer func() {
		release()
		last := &pb.CloseLoopRequest{LoopId: loop.ID}
		switch {
		case !finished:
			last.Reason, last.Detail = pb.TerminationReason_TERMINATION_REASON_ERROR, "panicked"
		case err != nil:
			last.Reason = pb.TerminationReason_TERMINATION_REASON_ERROR
			last.Detail = fmt.Sprintf("%.1000s", err)
		}
		// Said also where the caller's own time is over.
		goodbye, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTime)
		defer cancel()
		closed, closeErr := c.CloseLoop(goodbye, last)
		if closeErr == nil {
			ended = closed.GetLoop().GetTerminated()
		} else if err == nil {
			err = closeErr
		}
	}()
	err = body(ctx, loop)
	finished = true
	return ended, err
}

// Report says what happened in a step, and answers whether to go on.
func (l *Loop) Report(ctx context.Context, step *pb.ReportedStep) (*pb.Verdict, error) {
	answer, err := l.client.ReportStep(ctx, &pb.ReportStepRequest{
		LoopId: l.ID, Report: &pb.ReportStepRequest_Step{Step: step},
	})
	return answer.GetVerdict(), err
}

// ReportEvent says that something else happened.
func (l *Loop) ReportEvent(ctx context.Context, event *pb.LoopEvent) (*pb.Verdict, error) {
	answer, err := l.client.ReportStep(ctx, &pb.ReportStepRequest{
		LoopId: l.ID, Report: &pb.ReportStepRequest_Event{Event: event},
	})
	return answer.GetVerdict(), err
}

// BeginStep begins a step, or begins it anew: its counters are 0.
func (l *Loop) BeginStep(ctx context.Context, stepID string) error {
	_, err := l.client.RecordAttempt(ctx, &pb.RecordAttemptRequest{
		LoopId: l.ID, StepId: stepID, What: &pb.RecordAttemptRequest_Begin{Begin: &pb.BeginStep{}},
	})
	return err
}

// Failed records a failed attempt at a step.
func (l *Loop) Failed(ctx context.Context, stepID, action, failure string) (*pb.RecordAttemptResponse, error) {
	return l.client.RecordAttempt(ctx, &pb.RecordAttemptRequest{
		LoopId: l.ID,
		StepId: stepID,
		What: &pb.RecordAttemptRequest_Failed{
			Failed: &pb.FailedAttempt{Action: action, Error: failure},
		},
	})
}

// State says where the loop stands.
func (l *Loop) State(ctx context.Context) (*pb.Loop, error) {
	answer, err := l.client.GetLoop(ctx, &pb.GetLoopRequest{LoopId: l.ID})
	return answer.GetLoop(), err
}

// keepLease holds a stream open, and opens it again where it breaks, until it is released.
func (c *Client) keepLease(ctx context.Context, loopID string) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for failures := 1; ; failures++ {
			heard, err := c.hold(ctx, loopID)
			if heard {
				failures = 1
			}
			read := DetailsOf(err)
			wait, again := FollowRetry.wait(failures, read)
			if errors.Is(err, errEnded) || !again || !isResumable(read) || !sleep(ctx, wait) {
				return
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// errEnded says that a loop has ended by itself.
var errEnded = errors.New("the loop has ended")

// hold keeps one stream open until it breaks; whether anything came over it.
func (c *Client) hold(ctx context.Context, loopID string) (heard bool, err error) {
	stream, err := c.RunLoop(ctx)
	if err != nil {
		return false, err
	}
	resume := &pb.RunLoopRequest_Resume{Resume: &pb.ResumeLoop{LoopId: loopID}}
	// Where this fails, Recv says why.
	_ = stream.Send(&pb.RunLoopRequest{Message: resume})
	for {
		answer, err := stream.Recv()
		if err != nil {
			return heard, err
		}
		heard = true
		if answer.GetEnded() != nil {
			return heard, errEnded
		}
	}
}
