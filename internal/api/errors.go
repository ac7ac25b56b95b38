package api

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// ErrTooMany says that a limit was reached; nothing was taken.
var ErrTooMany = bourse.Errorf(bourse.CodeBusy, "Too many requests")

// ErrUnauthorized says that no usable key was given. It does not say why.
var ErrUnauthorized = bourse.Errorf(bourse.CodeUnauthorized, "Unauthorized")

// Forbidden says that a key lacks a scope.
func Forbidden(scope account.Scopes) error {
	return bourse.Errorf(bourse.CodeForbidden, "Forbidden: the key has no scope %s", scope)
}

// Public returns what a caller may read of an error: an *bourse.Error speaks for
// itself, anything else is ours.
func Public(err error) string {
	var e *bourse.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "Internal error"
}

// Reasons is how an interface tells why the exchange says no.
type Reasons struct {
	// Explained are told by their word and a sentence, Plain without the word.
	Explained map[bourse.Reason]string
	Plain     map[bourse.Reason]*bourse.Error
}

// voided is what every interface says of a command that an operator took out.
var voided = bourse.Errorf(bourse.CodeRefused, "Refused by the operator")

// Refusal returns the error for a reason of the exchange. A reason that is in no
// table is told by its word alone.
func (r *Reasons) Refusal(reason bourse.Reason) error {
	if reason == bourse.Voided {
		return voided
	}
	if err, ok := r.Plain[reason]; ok {
		return err
	}
	if s, ok := r.Explained[reason]; ok {
		return bourse.Errorf(bourse.CodeRefused, "%s: %s", reason, s)
	}
	return bourse.Errorf(bourse.CodeRefused, "%s", reason)
}
