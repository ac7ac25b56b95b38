package api

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// Error is an error for clients with its code.
type Error struct {
	Code    codes.Code
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a formatted message.
func Errorf(code codes.Code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// general maps kinds of errors to codes.
var general = map[bourse.Code]codes.Code{
	bourse.CodeMissing:      codes.MissingData,
	bourse.CodeInvalid:      codes.ValidationError,
	bourse.CodeUnauthorized: codes.InvalidKey,
	bourse.CodeForbidden:    codes.Forbidden,
	bourse.CodeNotFound:     codes.NotFound,
	bourse.CodeConflict:     codes.Conflict,
	bourse.CodeRefused:      codes.NotAcceptable,
	bourse.CodeBusy:         codes.RateLimit,
	bourse.CodeUnavailable:  codes.Unavailable,
	bourse.CodeFull:         codes.DiskFull,
	bourse.CodeUnknown:      codes.Timeout,
	bourse.CodeBehind:       codes.HistoryBehind,
}

// named maps errors with a code of their own.
var named = map[*bourse.Error]codes.Code{
	account.ErrLogIn:         codes.LoginFailed,
	account.ErrPassword:      codes.WrongPassword,
	account.ErrVerification:  codes.InvalidVerificationCode,
	account.ErrWhichSignUp:   codes.InvalidVerificationCode,
	account.ErrWrongFactor:   codes.Invalid2FA,
	account.ErrWrongPasskey:  codes.Invalid2FA,
	account.ErrPasskeyLogIn:  codes.LoginFailed,
	account.ErrNoParty:       codes.NotConfigured,
	account.ErrConfigured:    codes.AlreadyConfigured,
	account.ErrNotConfigured: codes.NotConfigured,
	account.ErrSignature:     codes.InvalidSignature,
	account.ErrClock:         codes.RequestExpired,
	account.ErrRepeated:      codes.RequestRepeated,

	ErrNoEndpoint: codes.InvalidEndpoint,
	ErrMethod:     codes.MethodNotAllowed,
	ErrNoSecret:   codes.Unauthorized,
	ErrNoSession:  codes.Unauthorized,
	ErrHasSecret:  codes.AlreadyLoggedIn,
	ErrInternal:   codes.InternalServerError,
}

// Known returns the error that a client reads; nil if err is internal. The code of a
// refusal is the word of its reason.
func Known(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}

	var factor *account.FactorError
	if errors.As(err, &factor) {
		return &Error{codes.Require2FA, factor.Error()}
	}

	var known *bourse.Error
	if !errors.As(err, &known) {
		return nil
	}

	code, ok := named[known]
	if word := codes.Code(known.Reason.String()); !ok && known.Reason != 0 && codes.Listed(word) {
		code, ok = word, true
	}
	if !ok {
		code = general[known.Code]
	}
	return &Error{code, known.Message}
}

// WithoutEffect reports whether an error says that the process which answers did not carry a request out.
func WithoutEffect(err error) bool {
	known := Known(err)
	return known != nil && (known.Code == codes.Unavailable || known.Code == codes.RateLimit || known.Code == codes.DiskFull)
}

// errSession is the error for a key where only a session will do: ScopeAccount has no name.
var errSession = bourse.Errorf(bourse.CodeForbidden, "Forbidden: it needs a session, not an API key")

// Forbidden returns the error for a key without a required scope.
func Forbidden(scope account.Scopes) error {
	if scope == account.ScopeAccount {
		return errSession
	}
	return bourse.Errorf(bourse.CodeForbidden, "Forbidden: the key has no scope %s", scope)
}

// Public returns the message of an error for clients, and a fixed one for an internal error.
func Public(err error) string {
	if e := Known(err); e != nil {
		return e.Message
	}
	return ErrInternal.Message
}
