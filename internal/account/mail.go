package account

import (
	"context"
	"fmt"
	"strings"
)

// Mail is a letter to a person.
type Mail struct {
	To, Subject, Text string
	// Code is the code in the text, if there is one.
	Code string
}

// Mailer carries letters. Any goroutine may call it.
type Mailer interface {
	// Send hands a letter over; when it returns, it is on its way.
	Send(ctx context.Context, m *Mail) error
}

// letter is what a kind of letter says.
type letter struct{ subject, text string }

const ignore = "\n\nIf this was not you, ignore this message."

var (
	letterSignUp  = letter{"Confirm your account", "Your code is %s. It confirms your new account." + ignore}
	letterExists  = letter{"You have an account", "Somebody asked for a new account with this address, which has one already." + ignore}
	letterReset   = letter{"Reset your password", "Your code is %s. It sets a new password." + ignore}
	letterEmail   = letter{"Confirm your new address", "Your code is %s. It makes this the address of your account." + ignore}
	letterFactor  = letter{"Confirm your request", "Your code is %s. It confirms one request that was made with your account. If this was not you, change your password."}
	letterChanged = letter{"Your account was changed", "%s If this was not you, reset your password and write to us."}
)

// send mails a letter; code is put in where the letter has one.
func (s *Service) send(ctx context.Context, to string, l letter, code string) error {
	if !s.letters.take(to, s.now()) {
		return errTooMany
	}
	m := &Mail{To: to, Subject: l.subject, Text: l.text, Code: code}
	if strings.Contains(l.text, "%s") {
		m.Text = fmt.Sprintf(l.text, code)
	}
	return s.Mailer.Send(ctx, m)
}

// tell mails what was changed. The change has been made: a letter that does not
// arrive is no reason to say that it failed.
func (s *Service) tell(ctx context.Context, to, what string) {
	_ = s.Mailer.Send(context.WithoutCancel(ctx), &Mail{
		To: to, Subject: letterChanged.subject, Text: fmt.Sprintf(letterChanged.text, what),
	})
}

// maskEmail shows enough of an address that its owner knows it.
func maskEmail(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	return local[:min(len(local), 1)] + "***@" + domain
}
