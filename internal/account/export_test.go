package account

import (
	"context"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// ForgePerson changes the row of a person as no request can, with a command.
func (s *Service) ForgePerson(ctx context.Context, id bourse.AccountID, change func(*AccountRow)) error {
	return s.changePerson(ctx, &bourse.Command{Kind: bourse.CommandSetPerson, Account: id}, func(row *AccountRow) error {
		change(row)
		return nil
	})
}

// ChangePerson changes how a person gets in as a request of a session does that was let
// in before.
func (s *Service) ChangePerson(ctx context.Context, who Identity, change func(*AccountRow)) error {
	return s.secure(ctx, s.secureCommand(who.Account, who.Session), func(row *AccountRow) error {
		change(row)
		return nil
	})
}

// SignedText returns the text that a client signs.
func SignedText(r *Signed, exchange [16]byte) string { return string(r.text(exchange)) }

// Proves reports whether a request has a signature by a key.
func Proves(kind KeyKind, secret Secret, material []byte, r *Signed, exchange [16]byte) bool {
	c := &credential{kind: kind, secret: secret, material: material}
	return c.signed(r.text(exchange), r.Signature)
}

// MostTexts is the bound of an account's texts.
const MostTexts = mostTexts

// NewTexts returns an empty table of texts.
func NewTexts() Texts {
	t := newTextTable()
	return &t
}

// Parts splits a signed text into its parts; nil if it is malformed.
func Parts(text string) (parts []string) {
	for text != "" {
		length, rest, _ := strings.Cut(text, ":")
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n >= len(rest) || rest[n] != ',' {
			return nil
		}
		parts, text = append(parts, rest[:n]), rest[n+1:]
	}
	return parts
}
