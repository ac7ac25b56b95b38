package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
)

// ResetPassword sets a new password with the code of ForgotPassword. All sessions, keys and
// new passkeys end, and withdrawals are held. The errors are ErrVerification, and *bourse.Errors
// with CodeInvalid and CodeBusy.
func (s *Service) ResetPassword(ctx context.Context, email, code, password string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	if err := CheckPassword("password", password); err != nil {
		return err
	}

	of, _, err := s.personOf(ctx, email)
	if err != nil {
		return err
	}
	known, err := s.knows(ctx, of.ID, v.source())
	if err != nil {
		return err
	}

	return s.tryMailed(try{ForReset, email, v, known}, text(code), func(c *Code) error {
		if c.Account == 0 { // the address has no account
			return ErrVerification
		}
		row, err := s.person(ctx, c.Account)
		if err != nil {
			return err
		}
		hash, err := s.hasher.hash(ctx, v.source(), s.Random, password)
		if err != nil {
			return err
		}
		return s.resetTo(ctx, &row, hash, v)
	})
}

// resetTo sets the hash of a password that the letter of a reset allowed. Passkeys of the last recoveryFor end: who had
// the mail or a session could have added them, and they would log in without the password.
// Withdrawals are then held as after an operator's recovery, because codes may confirm again.
func (s *Service) resetTo(ctx context.Context, was *AccountRow, hash string, v Visit) error {
	cmd := s.evictCommand(was.ID)
	var row AccountRow
	ended := 0
	err := s.secure(ctx, cmd, func(now *AccountRow) error {
		if err := now.setPassword(was, hash); err != nil {
			return err
		}
		if ended = s.endFresh(now); ended > 0 {
			recovery(cmd)
		}
		row = *now
		return nil
	})
	if err != nil {
		return err
	}

	s.log(ctx, row.ID, resetPassword, v, "")
	if ended > 0 {
		s.log(ctx, row.ID, changedFactor, v, "New passkeys ended.")
	}
	s.tellAll(ctx, &row, passwordChanged+aboutPasskeys(ended, row.Passkeys))
	return nil
}

// endFresh removes the passkeys that a row got within recoveryFor, and returns their number.
func (s *Service) endFresh(row *AccountRow) int {
	kept := slices.DeleteFunc(slices.Clone(row.Passkeys), func(k Passkey) bool { return s.now() < k.Created+recoveryFor })
	ended := len(row.Passkeys) - len(kept)
	row.Passkeys = kept
	return ended
}

// aboutPasskeys describes the passkeys that a reset ended and kept. It omits names, which may be a thief's text.
func aboutPasskeys(ended int, kept []Passkey) string {
	var text strings.Builder
	if ended > 0 {
		fmt.Fprintf(&text, " Passkeys that were added in the last %d hours have ended: %d.", recoveryFor/bourse.Hour, ended)
	}
	if len(kept) == 0 {
		return text.String()
	}

	text.WriteString(" Passkeys that stay were added on ")
	for i := range kept {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(kept[i].Created.Std().UTC().Format(time.DateOnly))
	}
	text.WriteString(". If one of them is not yours, tell the operator.")
	return text.String()
}
