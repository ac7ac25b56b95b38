package account

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
)

const (
	// undoFor is the time within which an old address can undo a change.
	undoFor = 7 * bourse.Day
	// mostUndos bounds an account's pending undos.
	mostUndos = 8
)

// Undo lets the holder of an old address undo a change of address. It is in the store,
// and survives restarts.
type Undo struct {
	// Email is the old address.
	Email string
	// Code is a MAC of the mailed code, under a key that the store does not have.
	Code    Hash
	Expires bourse.Time
	// TOTP, TOTPUsed and Passkeys are the second factors at the time of the change. The undo
	// restores them: a thief's application or passkey would lock the holder out.
	TOTP     []byte
	TOTPUsed bool
	Passkeys []Passkey
}

// undoDigits writes 80 random bits as 16 characters without look-alikes. The length must
// withstand seven days of guessing, because the tries of all sources together are not
// bounded.
var undoDigits = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// plainUndo drops separators and maps look-alikes.
var plainUndo = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")

// newUndoCode draws an undo code in groups of four characters.
func newUndoCode(random io.Reader) (string, error) {
	var b [10]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("drawing an undo code: %w", err)
	}
	c := undoDigits.EncodeToString(b[:])
	return c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:], nil
}

// readUndoCode normalises an undo code. The error is an *bourse.Error with CodeInvalid.
func readUndoCode(text string) (string, error) {
	plain := plainUndo.Replace(strings.ToUpper(text))
	if _, err := undoDigits.DecodeString(plain); err != nil || len(plain) != 16 {
		return "", bourse.Errorf(bourse.CodeInvalid, "code: must be the 16 characters of the letter")
	}
	return plain, nil
}

// undoCode returns the stored MAC of an undo code.
func (s *Service) undoCode(id bourse.AccountID, email, code string) (sum Hash) {
	mac := hmac.New(sha256.New, s.key("undo"))
	_, _ = fmt.Fprintf(mac, "%d %s %s", id, email, code) // a hash never fails
	copy(sum[:], mac.Sum(nil))
	return sum
}

// addUndo adds the undo of a change of address to a row. Older ones stay: a thief who
// changes the address twice does not get rid of the holder.
func (s *Service) addUndo(row *AccountRow, old, code string) error {
	row.Undos = slices.DeleteFunc(row.Undos, func(u Undo) bool { return u.Email == old || s.now() >= u.Expires })
	if len(row.Undos) >= mostUndos {
		return errTooMany
	}
	plain, err := readUndoCode(code)
	if err != nil {
		return err
	}
	row.Undos = append(row.Undos, Undo{
		Email: old, Code: s.undoCode(row.ID, old, plain), Expires: s.now() + undoFor,
		TOTP: row.TOTP, TOTPUsed: row.TOTPUsed, Passkeys: row.Passkeys,
	})
	return nil
}

// UndoEmail restores an old address with the code that was mailed there when it changed.
// Sessions, keys and the password end, the second factor is restored, withdrawals are
// held, and undos of later changes end. The errors are ErrVerification, and
// *bourse.Errors with CodeInvalid, CodeBusy and CodeConflict.
//
// Wrong tries count by source and never end the code: a thief could otherwise use up the
// holder's undo.
func (s *Service) UndoEmail(ctx context.Context, email, code string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	if code, err = readUndoCode(code); err != nil {
		return err
	}
	source := v.source().String()
	takes := []spending{{codesBySource, source}, {undosBySource, email + " from " + source}}
	if err := s.spend(takes...); err != nil {
		return err
	}

	undos, err := s.Store.UndosOf(ctx, email)
	if err != nil {
		return err
	}
	if len(undos) == 0 {
		undos = []bourse.AccountID{0} // account 0, at the same cost
	}
	for _, id := range undos {
		u, err := s.undoOf(ctx, id, email)
		if err != nil {
			return err
		}
		sum := s.undoCode(id, email, code)
		if s.now() < u.Expires && subtle.ConstantTimeCompare(sum[:], u.Code[:]) == 1 {
			for _, t := range takes {
				s.shared.Back(t.quota, t.name)
			}
			return s.undo(ctx, id, &u, v)
		}
	}
	return ErrVerification
}

// undoOf returns an account's undo for an old address; an expired one if the journal's
// row has none.
func (s *Service) undoOf(ctx context.Context, id bourse.AccountID, email string) (Undo, error) {
	row, err := s.person(ctx, id)
	var known *bourse.Error
	if errors.As(err, &known) && known.Code != bourse.CodeUnavailable && known.Code != bourse.CodeFull {
		return Undo{}, nil
	}
	if err != nil {
		return Undo{}, err
	}
	if at := slices.IndexFunc(row.Undos, func(u Undo) bool { return u.Email == email }); at >= 0 {
		return row.Undos[at], nil
	}
	return Undo{}, nil
}

func (s *Service) undo(ctx context.Context, id bourse.AccountID, u *Undo, v Visit) error {
	cmd := s.evictCommand(id)
	if cmd.Hold > 0 {
		cmd.Hold = max(cmd.Hold, undoFor)
	}

	var from string
	err := s.secure(ctx, cmd, func(row *AccountRow) error {
		at := slices.IndexFunc(row.Undos, func(kept Undo) bool { return kept.Email == u.Email && kept.Code == u.Code })
		if at < 0 {
			return ErrVerification // a concurrent request was first
		}
		from, row.Email, row.Undos = row.Email, u.Email, row.Undos[:at]
		row.Password, row.TOTP, row.TOTPUsed, row.Passkeys = "", u.TOTP, u.TOTPUsed, u.Passkeys
		return nil
	})
	if errors.Is(err, ErrTaken) {
		return errEmailTaken
	}
	if err != nil {
		return err
	}

	s.log(ctx, id, undidEmail, v, maskEmail(u.Email))
	s.tell(ctx, id, u.Email, "This is the address of your account again. Set a new password by a reset.")
	_ = s.send(ctx, &Mail{To: from}, letterUndone, maskEmail(u.Email))
	return nil
}
