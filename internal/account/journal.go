package account

import (
	"maps"

	"github.com/bourse-exchange/bourse"
)

// facts are what the journal says of accounts and keys, by their dense ids
// (index zero is nobody's), and of address books.
type facts struct {
	accounts []accountFact
	keys     []keyFact
	books    books
}

type accountFact struct {
	token  bourse.Token
	frozen bool
}

type keyFact struct {
	token   bourse.Token
	account bourse.AccountID
	revoked bool
	// at is when it was revoked; a snapshot does not say, then it is zero.
	at bourse.Time
}

func newFacts() *facts {
	return &facts{accounts: make([]accountFact, 1), keys: make([]keyFact, 1), books: books{}}
}

// account returns what is known of an account; nil if the journal has none.
func (f *facts) account(id bourse.AccountID) *accountFact {
	if id == 0 || uint64(id) >= uint64(len(f.accounts)) {
		return nil
	}
	return &f.accounts[id]
}

// key returns what is known of a key; nil if the journal has none.
func (f *facts) key(id bourse.KeyID) *keyFact {
	if id == 0 || uint64(id) >= uint64(len(f.keys)) {
		return nil
	}
	return &f.keys[id]
}

// Reset prepares for what a snapshot restores. Until End, everybody still sees
// what was there before.
func (s *Service) Reset(func(name string) ([]byte, bool)) error {
	s.restored = newFacts()
	return nil
}

// Begin announces the commands of a frame.
func (s *Service) Begin() {}

// Observe takes in what a command did. Most commands do nothing here, and pay
// for no lock.
func (s *Service) Observe(cmd *bourse.Command, ev *bourse.Events) {
	if len(ev.Facts) == 0 && len(ev.Wallet.Addresses) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.facts
	if s.restored != nil {
		f = s.restored
	}
	for i := range ev.List {
		e := &ev.List[i]
		switch e.Kind {
		case bourse.EventAccountCreated, bourse.EventAccountRestored:
			s.foldAccount(f, &ev.Facts[e.At])
		case bourse.EventAccountFrozen:
			f.accounts[ev.Facts[e.At].Account].frozen = ev.Facts[e.At].On
		case bourse.EventKeyCreated:
			s.foldKey(f, &ev.Facts[e.At])
		case bourse.EventKeyRevoked:
			s.foldRevoked(f, ev.Facts[e.At].Key, cmd.Time)
		case bourse.EventAddressSaved:
			s.foldAddress(f, &ev.Wallet.Addresses[e.At])
		case bourse.EventAddressForgotten:
			s.foldForgotten(f, &ev.Wallet.Addresses[e.At])
		default: // not about accounts
		}
	}
}

func (s *Service) foldAccount(f *facts, fact *bourse.Fact) {
	if int(fact.Account) != len(f.accounts) {
		bourse.Impossible("account %d follows %d accounts", fact.Account, len(f.accounts)-1)
	}
	f.accounts = append(f.accounts, accountFact{token: fact.Token, frozen: fact.On})
	if _, ok := s.waiting[fact.Token]; ok {
		delete(s.waiting, fact.Token)
		s.open.Accounts[fact.Token] = fact.Account
	}
}

func (s *Service) foldKey(f *facts, fact *bourse.Fact) {
	if int(fact.Key) != len(f.keys) {
		bourse.Impossible("key %d follows %d keys", fact.Key, len(f.keys)-1)
	}
	f.keys = append(f.keys, keyFact{token: fact.Token, account: fact.Account})
	if row := s.waiting[fact.Token]; row != nil {
		delete(s.waiting, fact.Token)
		s.open.Keys[fact.Token] = fact.Key
		row.ID = fact.Key
		s.admit(row)
	}
}

func (s *Service) foldRevoked(f *facts, key bourse.KeyID, at bourse.Time) {
	f.keys[key].revoked, f.keys[key].at = true, at
	if s.restored == nil {
		s.open.Revoked[key] = at
		s.revoked = append(s.revoked, key)
	}
}

// End closes the frame: what was revoked in it is told.
func (s *Service) End() {
	if s.restored != nil {
		s.install()
	}
	for _, key := range s.revoked {
		s.OnRevoke(key)
	}
	s.revoked = s.revoked[:0]
}

// install makes what a snapshot restored what everybody sees. Keys that were
// good until now and no longer are have been revoked meanwhile, and saved addresses
// that are gone were forgotten.
func (s *Service) install() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.facts.keys {
		now := s.restored.key(bourse.KeyID(id))
		if now != nil && now.revoked && !s.facts.keys[id].revoked {
			s.revoked = append(s.revoked, bourse.KeyID(id))
		}
	}
	for account, book := range s.facts.books {
		for _, a := range book {
			if s.restored.books.entry(account, a.ID) == nil {
				s.open.Forgotten = append(s.open.Forgotten, a.ID)
			}
		}
	}
	s.facts, s.restored = s.restored, nil
}

// merge puts back what could not be confirmed.
func (s *Decisions) merge(work *Decisions) {
	maps.Copy(s.Accounts, work.Accounts)
	maps.Copy(s.Keys, work.Keys)
	maps.Copy(s.Revoked, work.Revoked)
	maps.Copy(s.Addresses, work.Addresses)
	s.Forgotten = append(s.Forgotten, work.Forgotten...)
	s.Dropped = append(s.Dropped, work.Dropped...)
}
