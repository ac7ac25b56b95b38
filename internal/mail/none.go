package mail

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// None refuses all letters: an exchange without a mail server sends no codes.
type None struct{}

// Send returns an *bourse.Error with CodeUnavailable.
func (None) Send(context.Context, *account.Mail) error {
	return bourse.Errorf(bourse.CodeUnavailable, "This exchange sends no mail")
}
