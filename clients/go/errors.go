package signalbox

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Details is what a call that did not end with OK says.
type Details struct {
	Code codes.Code
	// Message is for people; its wording may change.
	Message string
	// Reason is a value of signalboxpb.ErrorReason without its prefix, for example
	// "ENTRY_NOT_FOUND". Empty where the status was not made by signalbox: no server there, a
	// deadline that passed at this end.
	Reason string
	// Domain is "signalbox" where the reason is signalbox's own.
	Domain string
	// Metadata has every dynamic value of the message, by name.
	Metadata map[string]string
	// Violations has all fields that are out of their limits, for the reason "INVALID_FIELD".
	Violations []FieldViolation
	// RetryAfter is the time to wait before another try; 0 where the server named none.
	RetryAfter time.Duration
}

// FieldViolation is one field that is out of its limits.
type FieldViolation struct {
	// Field is its path as the request wrote it ("entries[3].name").
	Field       string
	Description string
}

// DetailsOf reads the status and the details of an error that a call returned. The code is
// codes.OK for nil, and codes.Unknown for an error that is no gRPC status.
func DetailsOf(err error) Details {
	st := status.Convert(err)
	read := Details{Code: st.Code(), Message: st.Message()}
	for _, detail := range st.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			read.Reason, read.Domain, read.Metadata = detail.Reason, detail.Domain, detail.Metadata
		case *errdetails.BadRequest:
			for _, violation := range detail.FieldViolations {
				read.Violations = append(read.Violations, FieldViolation{
					Field:       violation.Field,
					Description: violation.Description,
				})
			}
		case *errdetails.RetryInfo:
			read.RetryAfter = detail.RetryDelay.AsDuration()
		}
	}
	return read
}
