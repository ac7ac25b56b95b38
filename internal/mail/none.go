package mail

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// None carries nothing: an exchange without a mail server has no codes to send.
type None struct{}

// Send says so.
func (None) Send(context.Context, *account.Mail) error {
	return bourse.Errorf(bourse.CodeUnavailable, "This exchange sends no mail")
}
