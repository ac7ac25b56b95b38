package account

import (
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// maxMessage is the longest message of a transfer, in bytes.
const maxMessage = 255

// ValidMessage reports whether text is valid for a transfer: at most 255 bytes, no
// control characters.
func ValidMessage(text string) bool {
	for _, c := range text {
		if control(c) {
			return false
		}
	}
	return len(text) <= maxMessage
}

// Transfer submits a transfer between accounts with a message, which may be empty and
// must be valid. The errors are those of a command; the outcome may be a refusal.
//
// The message is written before the command, so that every known transfer has its own. It
// is kept if the outcome is unknown.
func (s *Service) Transfer(ctx context.Context, cmd *bourse.Command, message string) (bourse.Outcome, error) {
	var token bourse.Token
	if message != "" && !cmd.Wallet.Withdraw.Again {
		var err error
		if token, err = s.newToken(); err != nil {
			return bourse.Outcome{}, err
		}
		if err := s.Store.AddMessage(ctx, token, cmd.Account, message); err != nil {
			return bourse.Outcome{}, err
		}
	}
	cmd.Wallet.Withdraw.Message = token
	o, err := s.submit(ctx, cmd)
	if token != (bourse.Token{}) && (err == nil && (o.Reason != 0 || o.Repeated) || notTaken(err)) {
		_ = s.Store.DropMessage(context.WithoutCancel(ctx), token) // no transfer refers to it
	}
	return o, err
}

// Message returns a transfer's message; empty if there is none.
func (s *Service) Message(ctx context.Context, token bourse.Token) (string, error) {
	if token == (bourse.Token{}) {
		return "", nil
	}
	return s.Store.Message(ctx, token)
}

// CheckAddressName returns an *bourse.Error with CodeConflict if an account cannot
// save the address of a withdrawal under a name.
func (s *Service) CheckAddressName(
	ctx context.Context, account bourse.AccountID, asked *bourse.Withdraw, name string,
) error {
	rows, err := s.Store.NamesOf(ctx, account)
	if err != nil {
		return err
	}
	saved := s.savedAs(account, asked)
	if saved != 0 && !slices.ContainsFunc(rows, func(r NameRow) bool { return r.ID == saved && r.Name == name }) {
		return errOtherName
	}
	if saved == 0 && slices.ContainsFunc(rows, func(r NameRow) bool {
		return r.Network == asked.Network && r.Name == name
	}) {
		return errOtherAddress
	}
	return nil
}

// SavedAddress returns an entry of an account's address book. If found is false, foreign
// reports whether another account owns the entry.
func (s *Service) SavedAddress(
	ctx context.Context, account bourse.AccountID, id bourse.AddressID,
) (a SavedAddress, found, foreign bool, err error) {
	list, err := s.AddressBook(ctx, account)
	if err != nil {
		return a, false, false, err
	}
	for _, a := range list {
		if a.ID == id {
			return a, true, false, nil
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for owner := range s.facts.books {
		if s.facts.books.entry(owner, id) != nil {
			return a, false, true, nil
		}
	}
	return a, false, false, nil
}
