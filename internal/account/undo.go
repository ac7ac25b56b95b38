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
	// undoFor is how long an old address can take a change back.
	undoFor = 7 * bourse.Day
	// mostUndos is how many old addresses an account has within that time.
	mostUndos = 8
)

// Undo is what the holder of an old address needs to take a change of address back:
// it outlives restarts, in the store.
type Undo struct {
	// Email is the old address.
	Email string
	// Code is a MAC of the code that was mailed there, under a key that the store
	// does not have.
	Code    Hash
	Expires bourse.Time
	// TOTP and TOTPUsed are the second factor at the time of the change. It comes
	// back: an application of whoever changed the address would lock the holder out.
	TOTP     []byte
	TOTPUsed bool
}

// undoDigits writes 80 random bits as 16 characters without look-alikes. Strangers may
// guess at an undo code for seven days, and nothing counts their tries in all.
var undoDigits = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// plainUndo drops what people write between the characters, and reads look-alikes.
var plainUndo = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")

// newUndoCode draws an undo code, in groups of four.
func newUndoCode(random io.Reader) (string, error) {
	var b [10]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("drawing an undo code: %w", err)
	}
	c := undoDigits.EncodeToString(b[:])
	return c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:], nil
}

// readUndoCode returns the plain form of an undo code that came back. The error is an
// *bourse.Error with CodeInvalid.
func readUndoCode(text string) (string, error) {
	plain := plainUndo.Replace(strings.ToUpper(text))
	if _, err := undoDigits.DecodeString(plain); err != nil || len(plain) != 16 {
		return "", bourse.Errorf(bourse.CodeInvalid, "code: must be the 16 characters of the letter")
	}
	return plain, nil
}

// undoCode returns what is kept of an undo code.
func (s *Service) undoCode(id bourse.AccountID, email, code string) (sum Hash) {
	mac := hmac.New(sha256.New, s.key("undo"))
	_, _ = fmt.Fprintf(mac, "%d %s %s", id, email, code) // a hash takes everything
	copy(sum[:], mac.Sum(nil))
	return sum
}

// addUndo adds the undo of a change of address to a row. Older ones stay: a thief who
// changes an address twice does not get rid of its holder.
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
		Email: old, Code: s.undoCode(row.ID, old, plain), Expires: s.now() + undoFor, TOTP: row.TOTP, TOTPUsed: row.TOTPUsed,
	})
	return nil
}

// UndoEmail makes an old address that of its account again, with the code that was
// mailed there when it changed. Sessions, keys and the password end, the second factor
// is what it was, and withdrawals wait; later changes can not be taken back any more.
// The errors are ErrVerification, and *bourse.Errors with CodeInvalid, CodeBusy and CodeConflict.
//
// Wrong tries are counted by source and never end the code: whoever took the account
// could otherwise take the way back as well.
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
	if !s.spend(takes...) {
		return errTooMany
	}

	undos, err := s.Store.UndosOf(ctx, email)
	if err != nil {
		return err
	}
	if len(undos) == 0 {
		undos = []bourse.AccountID{0} // nobody's, which costs the same
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

// undoOf returns the way back of an account to an old address; one that is over if
// there is none that the journal knows.
func (s *Service) undoOf(ctx context.Context, id bourse.AccountID, email string) (Undo, error) {
	row, err := s.person(ctx, id)
	var known *bourse.Error
	if errors.As(err, &known) && known.Code != bourse.CodeUnavailable {
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
			return ErrVerification // another request was first
		}
		from, row.Email, row.Undos = row.Email, u.Email, row.Undos[:at]
		row.Password, row.TOTP, row.TOTPUsed = "", u.TOTP, u.TOTPUsed
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
