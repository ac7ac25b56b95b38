package bourse

import "fmt"

// Code says what kind of mistake an [Error] reports; each interface maps it to
// its own wire form.
type Code uint8

// The closed set of codes.
const (
	// CodeMissing: a required value is absent. Message is its name.
	CodeMissing Code = iota + 1
	// CodeInvalid: a value is malformed or out of its range.
	CodeInvalid
	// CodeUnauthorized: no usable credential was given.
	CodeUnauthorized
	// CodeForbidden: the credential does not allow this.
	CodeForbidden
	// CodeNotFound: the thing named does not exist, or not for this caller.
	CodeNotFound
	// CodeConflict: the name is taken.
	CodeConflict
	// CodeRefused: the exchange says no; the message starts with the reason.
	CodeRefused
	// CodeBusy: a queue or limit is full; try again later.
	CodeBusy
	// CodeUnavailable: a part that is needed does not answer now.
	CodeUnavailable
	// CodeUnknown: the command was taken, its outcome is not known.
	CodeUnknown
	// CodeBehind: what is read has not caught up yet with what was announced.
	CodeBehind
)

// Error is a mistake of the caller, or a refusal that the caller should read.
type Error struct {
	Code    Code
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// InvariantError is the value that [Impossible] panics with: an invariant of the
// exchange did not hold. Whoever recovers it must end the process before any
// acknowledgement leaves.
type InvariantError string

// Error says which invariant does not hold.
func (v InvariantError) Error() string { return "invariant violated: " + string(v) }

// Impossible stops the process: an invariant does not hold, and no answer can
// be trusted from here on.
func Impossible(format string, args ...any) {
	panic(InvariantError(fmt.Sprintf(format, args...)))
}
