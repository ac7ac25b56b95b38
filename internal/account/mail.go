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
	// News marks a letter with news, which is sent after all other letters.
	News bool
}

// Mailer carries letters. Safe for concurrent use.
type Mailer interface {
	// Send queues or delivers a letter. An error means that it will never be delivered:
	// the exchange sends no mail.
	Send(ctx context.Context, m *Mail) error
}

// send fills in a template and hands the letter over.
func (s *Service) send(ctx context.Context, m *Mail, l letter, values ...string) error {
	text := s.write(l, values...)
	m.Subject, m.Text = text.Subject, text.Text
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
func Plain(value string) string { return PlainTo(value, maxPlain) }

// PlainTo is [Plain] for a value of at most most characters.
func PlainTo(value string, most int) string {
	var b strings.Builder
	n := 0
	for _, c := range value {
		if n++; n > most {
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
