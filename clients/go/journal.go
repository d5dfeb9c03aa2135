package signalbox

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox-dev/signalbox/clients/go/signalboxpb"
)

// JournalFollower reads events, each once and in order, also where the connection breaks or the
// server restarts. It is made by [Client.FollowEvents] and used by one goroutine.
type JournalFollower struct {
	client  pb.JournalServiceClient
	policy  RetryPolicy
	request *pb.StreamEventsRequest

	ctx      context.Context
	cancel   context.CancelFunc
	stream   grpc.ServerStreamingClient[pb.StreamEventsResponse]
	entries  []*pb.JournalEntry
	resume   string
	failures int
}

// FollowEvents replays what a request asks for and then follows, unless it says ReplayOnly.
// Nothing is opened before the first event is asked for. Close ends it.
func (c *Client) FollowEvents(ctx context.Context, request *pb.StreamEventsRequest) *JournalFollower {
	ctx, cancel := context.WithCancel(ctx)
	return &JournalFollower{
		client:  c.JournalServiceClient,
		policy:  FollowRetry,
		request: proto.Clone(request).(*pb.StreamEventsRequest),
		ctx:     ctx,
		cancel:  cancel,
	}
}

// Position is behind the last event that was handed out: a follower that begins there misses
// nothing and repeats nothing. It is the request's own before the first.
func (f *JournalFollower) Position() string { return f.request.Position }

// Close ends the stream; a Next that waits answers an error.
func (f *JournalFollower) Close() { f.cancel() }

// Next answers the next event, and waits for it. The error is io.EOF where everything was replayed
// (ReplayOnly), else the reason why the stream cannot go on.
func (f *JournalFollower) Next() (*pb.JournalEntry, error) {
	for len(f.entries) == 0 {
		// All of the last message was handed out: what it skipped need not be read again.
		f.passed(f.resume)
		if err := f.receive(); err != nil {
			return nil, err
		}
	}
	entry := f.entries[0]
	f.entries = f.entries[1:]
	f.passed(entry.Position)
	return entry, nil
}

// All iterates over the events; the last pair has an error, unless everything was replayed.
func (f *JournalFollower) All() iter.Seq2[*pb.JournalEntry, error] {
	return func(yield func(*pb.JournalEntry, error) bool) {
		for {
			entry, err := f.Next()
			if errors.Is(err, io.EOF) || !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

func (f *JournalFollower) passed(position string) {
	if position != "" {
		f.request.Position = position
		// A position says where to begin; an origin beside it would contradict it.
		f.request.Origin = pb.StreamOrigin_STREAM_ORIGIN_UNSPECIFIED
	}
}

// receive takes the next message, or prepares to open the stream again.
func (f *JournalFollower) receive() error {
	var err error
	if f.stream == nil {
		f.stream, err = f.client.StreamEvents(f.ctx, f.request)
	}
	var message *pb.StreamEventsResponse
	if err == nil {
		message, err = f.stream.Recv()
	}
	if err == nil {
		f.failures = 0
		f.resume = message.ResumeToken
		f.entries = message.GetEvents().GetEntries()
		return nil
	}
	f.stream, f.resume = nil, ""
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	read := DetailsOf(err)
	f.failures++
	wait, again := f.policy.wait(f.failures, read)
	if !again || !isResumable(read) || !sleep(f.ctx, wait) {
		return err
	}
	return nil
}

// isResumable says whether a stream that ended so goes on from its position. A position that is
// not kept any more is not: events would be missing.
func isResumable(read Details) bool {
	switch read.Reason {
	case "SLOW_CONSUMER", "OVERLOADED", "DRAINING":
		return true
	}
	return read.Code == codes.Unavailable || read.Code == codes.Internal
}
