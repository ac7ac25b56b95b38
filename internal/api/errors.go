package api

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Forbidden returns the error for a key without a required scope.
func Forbidden(scope account.Scopes) error {
	return bourse.Errorf(bourse.CodeForbidden, "Forbidden: the key has no scope %s", scope)
}

// Public returns the message of an *bourse.Error, and a fixed one for an internal error.
func Public(err error) string {
	var e *bourse.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "Internal error"
}
