package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bourse-exchange/bourse"
)

// SavedAddress is a named entry of an address book.
type SavedAddress struct {
	bourse.SavedAddress
	Name string
}

// maxAddressName is the longest name of an entry, in characters.
const maxAddressName = 255

// ValidAddressName reports whether name is valid for an entry: 1 to 255 printable
// characters of any script.
func ValidAddressName(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= maxAddressName && !strings.ContainsFunc(name, unprintable)
}

// unprintable reports whether a character has no place in a line of text: controls, and
// format characters such as those that reorder text, but for the two joiners, which
// scripts and emoji need.
func unprintable(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	return r == utf8.RuneError || !unicode.IsGraphic(r) && r != joiner && r != nonJoiner
}

// books are the address books in the journal: each account's entries by ascending id. An
// entry is immutable; a change replaces it.
type books map[bourse.AccountID][]*bourse.SavedAddress

func byAddressID(a *bourse.SavedAddress, id bourse.AddressID) int { return cmp.Compare(a.ID, id) }

// entry returns an entry of an account, or nil.
func (b books) entry(account bourse.AccountID, id bourse.AddressID) *bourse.SavedAddress {
	at, found := slices.BinarySearchFunc(b[account], id, byAddressID)
	if !found {
		return nil
	}
	return b[account][at]
}

// put adds or replaces an entry.
func (b books) put(a *bourse.SavedAddress) {
	list := b[a.Account]
	at, found := slices.BinarySearchFunc(list, a.ID, byAddressID)
	if found {
		list[at] = a
		return
	}
	b[a.Account] = slices.Insert(list, at, a)
}

// remove deletes an entry.
func (b books) remove(a *bourse.SavedAddress) {
	list := b[a.Account]
	if at, found := slices.BinarySearchFunc(list, a.ID, byAddressID); found {
		b[a.Account] = slices.Delete(list, at, at+1)
	}
}

// foldAddress applies a new, trusted or restored entry.
func (s *Service) foldAddress(f *facts, a *bourse.SavedAddress) {
	kept := *a
	f.books.put(&kept)
	if _, ok := s.saving[a.Token]; ok {
		delete(s.saving, a.Token)
		s.open.Addresses[a.Token] = a.ID
	}
}

// foldForgotten applies the end of an entry.
func (s *Service) foldForgotten(f *facts, a *bourse.SavedAddress) {
	f.books.remove(a)
	s.open.Forgotten = append(s.open.Forgotten, a.ID)
}

// AddressBook returns an account's saved addresses, by ascending id.
func (s *Service) AddressBook(ctx context.Context, account bourse.AccountID) ([]SavedAddress, error) {
	rows, err := s.Store.NamesOf(ctx, account)
	if err != nil {
		return nil, err
	}
	names := make(map[bourse.AddressID]string, len(rows))
	for i := range rows {
		names[rows[i].ID] = rows[i].Name
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]SavedAddress, len(s.facts.books[account]))
	for i, a := range s.facts.books[account] {
		list[i] = SavedAddress{*a, names[a.ID]}
		if list[i].Name == "" { // the store may be older than the journal
			list[i].Name = fmt.Sprintf("Address %d", a.ID)
		}
	}
	return list, nil
}

// Withdraw submits a withdrawal and saves its address under name; an empty name saves
// nothing. The name must be valid. The errors are those of a command, and *bourse.Errors
// with CodeConflict if the name stands for another address or the address has another
// name; then no command was submitted. The outcome may be a refusal.
func (s *Service) Withdraw(ctx context.Context, cmd *bourse.Command, name string) (bourse.Outcome, error) {
	var token bourse.Token
	if name != "" && !cmd.Wallet.Withdraw.Again {
		var err error
		if token, err = s.reserve(ctx, cmd, name); err != nil {
			return bourse.Outcome{}, err
		}
	}

	cmd.Wallet.Withdraw.Save = token
	o, err := s.submit(ctx, cmd)
	if token == (bourse.Token{}) || err != nil && !notTaken(err) {
		return o, err
	}

	s.mu.Lock()
	_, undecided := s.saving[token]
	if undecided { // refused or repeated
		delete(s.saving, token)
		s.open.Dropped = append(s.open.Dropped, token)
	}
	s.mu.Unlock()
	if !undecided {
		w := cmd.Wallet.Withdraw
		s.tellHolder(ctx, cmd.Account, fmt.Sprintf("A withdrawal address was saved: %s, network %s.",
			Plain(w.Address), s.NetworkName(w.Network)))
	}
	// The journal has decided. If the store fails now, a later Confirm retries.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return o, err
}

// reserve writes the pending row of a new entry and returns its token. The token is zero
// if the address is saved under this name already.
func (s *Service) reserve(ctx context.Context, cmd *bourse.Command, name string) (bourse.Token, error) {
	// An entry may still lack its name if an earlier outcome was not heard.
	if err := s.Confirm(ctx); err != nil {
		return bourse.Token{}, err
	}

	w := cmd.Wallet.Withdraw
	if saved := s.savedAs(cmd.Account, w); saved != 0 {
		rows, err := s.Store.NamesOf(ctx, cmd.Account)
		if err != nil {
			return bourse.Token{}, err
		}
		if slices.ContainsFunc(rows, func(r NameRow) bool { return r.ID == saved && r.Name == name }) {
			return bourse.Token{}, nil
		}
		return bourse.Token{}, errOtherName
	}

	token, err := s.newToken()
	if err != nil {
		return token, err
	}
	row := &NameRow{Token: token, Account: cmd.Account, Network: w.Network, Name: name}
	if err := s.Store.AddName(ctx, row); errors.Is(err, ErrTaken) {
		return token, errOtherAddress
	} else if err != nil {
		return token, err
	}

	s.mu.Lock()
	s.saving[token] = struct{}{}
	s.mu.Unlock()
	return token, nil
}

// savedAs returns the entry with the withdrawal's address, or zero.
func (s *Service) savedAs(account bourse.AccountID, w *bourse.Withdraw) bourse.AddressID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, a := range s.facts.books[account] {
		if a.Network == w.Network && a.Address == w.Address && a.Memo == w.Memo {
			return a.ID
		}
	}
	return 0
}

var (
	errNoAddress    = bourse.Errorf(bourse.CodeNotFound, "Address not found")
	errOtherName    = bourse.Errorf(bourse.CodeConflict, "the address is saved under another name")
	errOtherAddress = bourse.Errorf(bourse.CodeConflict, "the name is used for another address")
)

// RenameAddress changes the name of an entry. The name must be valid. The errors are
// *bourse.Errors with CodeNotFound, and CodeConflict if the account uses the name for
// another address of the network.
func (s *Service) RenameAddress(ctx context.Context, account bourse.AccountID, id bourse.AddressID, name string) error {
	s.mu.RLock()
	a := s.facts.books.entry(account, id)
	s.mu.RUnlock()
	if a == nil {
		return errNoAddress
	}
	err := s.Store.SetName(ctx, &NameRow{ID: id, Token: a.Token, Account: account, Network: a.Network, Name: name})
	if errors.Is(err, ErrTaken) {
		return errOtherAddress
	}
	return err
}

// ForgetAddress removes an entry. The errors are those of a command, and CodeNotFound if
// the account has no such entry.
func (s *Service) ForgetAddress(ctx context.Context, account bourse.AccountID, id bourse.AddressID) error {
	s.mu.RLock()
	known := id != 0 && s.facts.books.entry(account, id) != nil
	s.mu.RUnlock()
	if !known {
		return errNoAddress // unmetered refusals stay out of the journal
	}

	_, err := s.do(ctx, &bourse.Command{
		Kind: bourse.CommandForgetAddress, Account: account, Wallet: &bourse.WalletCommand{Address: id},
	})
	if err != nil {
		return err
	}
	// The entry is gone, even if the store fails now: a later Confirm removes the name.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return nil
}
