package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/bourse-exchange/bourse"
)

// Mail is a letter to a person.
type Mail struct {
	To, Subject, Text string
	// Code is the code in the text; empty for none.
	Code string
	// Source is the neighbourhood of the client behind a letter that strangers can cause.
	// It is the zero address for second factors and notices of accounts, which go first.
	Source netip.Addr
}

// Mailer carries letters. Safe for concurrent use.
type Mailer interface {
	// Send queues or delivers a letter. An error means that it will never be delivered:
	// the exchange sends no mail.
	Send(ctx context.Context, m *Mail) error
}

// letter is a template. %s stands for the code, or for the event.
type letter struct{ subject, text string }

const ignore = "\n\nIf this was not you, ignore this message."

var (
	letterSignUp = letter{"Confirm your account",
		"Your code is %s. It confirms your new account, with the password that " +
			"was chosen with it." + ignore}
	letterExists = letter{"You have an account",
		"Somebody asked for a new account with this address, which has one already." + ignore}
	letterReset = letter{"Reset your password", "Your code is %s. It sets a new password." + ignore}
	letterEmail = letter{"Confirm your new address",
		"Your code is %s. It makes this the address of your account." + ignore}
	letterFactor = letter{"Confirm your request",
		"Your code is %s. It confirms one request that was made with your account:\n\n%s\n\nIf this was not you, change your password."}
	letterChanged = letter{"Your account was changed",
		"%s\n\nIf this was not you, reset your password and write to us."}
	letterUndo = letter{"The address of your account was changed",
		"The address of your account was changed to %s.\n\n" +
			"If this was not you, undo it within seven days: your code is %s. It makes this the address again, ends all " +
			"sessions, keys and the password, and holds withdrawals."}
	letterUndone = letter{"The address of your account was changed back",
		"The holder of %s took the change of address back. " +
			"Sessions, keys and the password have ended, and withdrawals wait. If that address is no longer yours, write to us at once."}
)

// send fills in a template and hands the letter over.
func (s *Service) send(ctx context.Context, m *Mail, l letter, values ...any) error {
	m.Subject, m.Text = l.subject, l.text
	if len(values) > 0 {
		m.Text = fmt.Sprintf(l.text, values...)
	}
	return s.Mailer.Send(context.WithoutCancel(ctx), m)
}

// tell mails a holder a notice of a change. The change has been made, so a failed letter
// is no error.
func (s *Service) tell(ctx context.Context, id bourse.AccountID, to, what string) {
	if to == "" || s.spend(spending{notices, idName(id)}) != nil {
		return
	}
	_ = s.send(ctx, &Mail{To: to}, letterChanged, what)
}

// tellHolder mails a notice of a change to the holder of an account.
func (s *Service) tellHolder(ctx context.Context, id bourse.AccountID, what string) {
	row, err := s.person(context.WithoutCancel(ctx), id)
	var known *bourse.Error
	switch {
	case errors.As(err, &known):
		return // the account has no person
	case err != nil:
		s.OnFailure("a holder was not told of a change", err)
		return
	}
	s.tell(ctx, id, row.Email, what)
}

// Terms describes a key's permissions in plain words. It omits the name, which is the
// client's text.
func Terms(k *Key) string {
	text := "scopes " + k.Scopes.String() + ", from anywhere"
	if len(k.Addresses) > 0 {
		text = fmt.Sprintf("scopes %s, from %v", k.Scopes, k.Addresses)
	}
	if k.Kind.signs() {
		text += ", signing with " + k.Kind.String()
	}
	if k.Expires == 0 {
		return text + ", without expiry"
	}
	return text + ", until " + k.Expires.Std().UTC().Format(time.RFC3339)
}

// maskEmail hides an address except for its first character and its domain.
func maskEmail(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	return local[:min(len(local), 1)] + "***@" + domain
}

// maxPlain bounds a value in a letter, in characters.
const maxPlain = 160

// Plain makes a client's value safe for a letter: one line, bounded, without control,
// format and combining characters, and without text that a mail program turns into a
// link.
func Plain(value string) string {
	var b strings.Builder
	n := 0
	for _, c := range value {
		if n++; n > maxPlain {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(c) || unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Mn, c) {
			c = '?'
		}
		b.WriteRune(c)
	}
	return unlink.Replace(b.String())
}

var unlink = strings.NewReplacer("://", ": //", "www.", "www .")
