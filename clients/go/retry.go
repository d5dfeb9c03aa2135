package signalbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// RetryPolicy says how often a call is made, and the waits between: Base, doubling up to Cap, of
// which a random part is taken; never less than the server asks for. All of it happens within the
// deadline of the call's context. The zero value makes each call once.
type RetryPolicy struct {
	Attempts  int
	Base, Cap time.Duration
}

// DefaultRetry is what New uses.
var DefaultRetry = RetryPolicy{Attempts: 4, Base: 50 * time.Millisecond, Cap: 2 * time.Second}

// FollowRetry is for streams that outlive a restart of the server: about 40 seconds of failures in
// a row.
var FollowRetry = RetryPolicy{Attempts: 12, Base: 100 * time.Millisecond, Cap: 5 * time.Second}

// repeatable has the methods that do no more when they are called twice: they only read, set what
// is given, or know their request by its request_id. DeleteEntry is none: its second call would
// not find the entry.
var repeatable = map[string]bool{
	"AppendEvents":       true,
	"BatchRoute":         true,
	"CloseLoop":          true,
	"CreateLoop":         true,
	"ExtractReferences":  true,
	"FilterTools":        true,
	"GetEntry":           true,
	"GetLoop":            true,
	"GetPreferences":     true,
	"GetServerInfo":      true,
	"ListConventions":    true,
	"ListEntries":        true,
	"ListEvents":         true,
	"PlanRoute":          true,
	"PurgeEvents":        true,
	"RecallKnowledge":    true,
	"RecordAttempt":      true,
	"ReportStep":         true,
	"ResolveConventions": true,
	"Route":              true,
	"SetPreferences":     true,
	"UpsertConvention":   true,
	"UpsertEntries":      true,
}

// wait answers how long to wait after so many failures in a row; false is to give up.
func (p RetryPolicy) wait(failures int, read Details) (time.Duration, bool) {
	if failures >= p.Attempts {
		return 0, false
	}
	longest := p.Cap
	if shift := failures - 1; shift < 32 && p.Base<<shift < p.Cap {
		longest = p.Base << shift
	}
	wait := longest/2 + mathrand.N(longest/2+1)
	return max(wait, read.RetryAfter), true
}

// mayRepeat says whether a call of a method may be made again after an error.
func mayRepeat(method string, read Details) bool {
	if read.Reason == "OVERLOADED" || read.Reason == "DRAINING" {
		return true // Refused before anything was done.
	}
	return read.Code == codes.Unavailable && repeatable[method]
}

// retrying makes calls again as a policy says.
func retrying(policy RetryPolicy) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
		invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		request = identified(request)
		for failures := 1; ; failures++ {
			err := invoke(ctx, method, request, reply, conn, options...)
			if err == nil {
				return nil
			}
			read := DetailsOf(err)
			wait, again := policy.wait(failures, read)
			if !again || !mayRepeat(path.Base(method), read) || !sleep(ctx, wait) {
				return err
			}
		}
	}
}

// sleep waits, unless the context ends before; whether it did.
func sleep(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// identified answers the request with a request_id, if it has such a field and the caller left it
// empty: the server then does the work of repeated calls once. The caller's own stays as it is.
func identified(request any) any {
	message, ok := request.(proto.Message)
	if !ok {
		return request
	}
	field := message.ProtoReflect().Descriptor().Fields().ByName("request_id")
	if field == nil || field.Kind() != protoreflect.StringKind || message.ProtoReflect().Has(field) {
		return request
	}
	named := proto.Clone(message)
	id := make([]byte, 16)
	_, _ = rand.Read(id) // Never fails.
	named.ProtoReflect().Set(field, protoreflect.ValueOfString(hex.EncodeToString(id)))
	return named
}
