package bourse

import "fmt"

// Code is the kind of mistake that an [Error] reports; each interface maps it to its own
// wire form.
type Code uint8

// The closed set of codes.
const (
	// CodeMissing: a required value is absent. Message is its name.
	CodeMissing Code = iota + 1
	// CodeInvalid: a value is malformed or out of its range.
	CodeInvalid
	// CodeUnauthorized: the request has no usable credential.
	CodeUnauthorized
	// CodeForbidden: the credential does not permit the request.
	CodeForbidden
	// CodeNotFound: the named object does not exist, or not for this caller.
	CodeNotFound
	// CodeConflict: the name is taken.
	CodeConflict
	// CodeRefused: the exchange refused the request; Message starts with the reason.
	CodeRefused
	// CodeBusy: a queue or limit is full; the caller may try again later.
	CodeBusy
	// CodeUnavailable: a required service does not answer now.
	CodeUnavailable
	// CodeFull: the exchange's disk is full; the request had no effect.
	CodeFull
	// CodeUnknown: the command was accepted; its outcome is unknown.
	CodeUnknown
	// CodeBehind: the data read lags behind an announced event.
	CodeBehind
)

// Error is a caller's mistake, or a refusal meant for the caller.
type Error struct {
	Code    Code
	Message string
	// Reason is the exchange's reason for a refusal; zero for a caller's mistake.
	Reason Reason
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrBusy reports a full queue or limit; the request had no effect.
var ErrBusy = Errorf(CodeBusy, "Too many requests")

// InvariantError is the value that [Impossible] panics with: an invariant of the exchange
// did not hold. Code that recovers it must end the process before any acknowledgement
// leaves.
type InvariantError string

// Error names the broken invariant.
func (v InvariantError) Error() string { return "invariant violated: " + string(v) }

// Impossible stops the process: an invariant does not hold, so no later answer can be
// trusted.
func Impossible(format string, args ...any) {
	panic(InvariantError(fmt.Sprintf(format, args...)))
}
