package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// SavedAddress is an entry of an address book with its name.
type SavedAddress struct {
	bourse.SavedAddress
	Name string
}

// maxAddressName is the longest name of an entry, in bytes.
const maxAddressName = 255

// ValidAddressName reports whether an entry of an address book may be called so:
// 1 to 255 letters, digits and spaces.
func ValidAddressName(name string) bool {
	for _, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != ' ' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= maxAddressName
}

// books are the address books as the journal has them: each account's entries
// by ascending id. What is in them is never changed, but replaced.
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

// put adds an entry, or replaces it.
func (b books) put(a *bourse.SavedAddress) {
	list := b[a.Account]
	at, found := slices.BinarySearchFunc(list, a.ID, byAddressID)
	if found {
		list[at] = a
		return
	}
	b[a.Account] = slices.Insert(list, at, a)
}

// remove takes an entry out.
func (b books) remove(a *bourse.SavedAddress) {
	list := b[a.Account]
	if at, found := slices.BinarySearchFunc(list, a.ID, byAddressID); found {
		b[a.Account] = slices.Delete(list, at, at+1)
	}
}

// foldAddress takes in an entry that is new, trusted or restored.
func (s *Service) foldAddress(f *facts, a *bourse.SavedAddress) {
	kept := *a
	f.books.put(&kept)
	if _, ok := s.saving[a.Token]; ok {
		delete(s.saving, a.Token)
		s.open.Addresses[a.Token] = a.ID
	}
}

// foldForgotten takes in the end of an entry.
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

// Withdraw carries a command for a withdrawal that saves its address under a
// name, or saves nothing if the name is empty. The errors are those of a command,
// and *bourse.Errors with CodeConflict if the name stands for another address or
// the address has another name; then nothing was asked for. An outcome may be a
// refusal. The name must be valid.
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
	if undecided { // refused, or a repetition
		delete(s.saving, token)
		s.open.Dropped = append(s.open.Dropped, token)
	}
	s.mu.Unlock()
	if !undecided {
		w := cmd.Wallet.Withdraw
		s.tellHolder(ctx, cmd.Account, fmt.Sprintf("A withdrawal address was saved: %s, network %s.",
			Plain(w.Address), s.NetworkName(w.Network)))
	}
	// The journal has decided: what the store misses now, a later call tells it.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return o, err
}

// reserve writes the pending row of a new entry and returns its token, which is
// zero if the address is saved under this name already.
func (s *Service) reserve(ctx context.Context, cmd *bourse.Command, name string) (bourse.Token, error) {
	// An entry whose sender did not hear of it may have no name yet.
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

// savedAs returns the entry of the address that a withdrawal goes to, or zero.
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

// RenameAddress gives an entry of an address book another name, which must be
// valid. The errors are *bourse.Errors with CodeNotFound, and CodeConflict if the
// account uses the name for another address of the network.
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

// ForgetAddress takes an entry out of an address book. The errors are those of a
// command; CodeNotFound if the account has no such entry.
func (s *Service) ForgetAddress(ctx context.Context, account bourse.AccountID, id bourse.AddressID) error {
	s.mu.RLock()
	known := id != 0 && s.facts.books.entry(account, id) != nil
	s.mu.RUnlock()
	if !known {
		return errNoAddress // a refusal that is free does not reach the journal
	}

	_, err := s.do(ctx, &bourse.Command{
		Kind: bourse.CommandForgetAddress, Account: account, Wallet: &bourse.WalletCommand{Address: id},
	})
	if err != nil {
		return err
	}
	// It is gone, whatever the store says: the name can be removed later.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return nil
}
