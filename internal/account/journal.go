package account

import (
	"maps"

	"github.com/bourse-exchange/bourse"
)

// facts are what the journal says of accounts, by their dense ids (index zero is
// nobody's), of live keys, and of address books.
type facts struct {
	accounts []accountFact
	keys     map[bourse.KeyID]*keyFact
	// lastKey is the newest key there ever was.
	lastKey bourse.KeyID
	books   books
}

type accountFact struct {
	token  bourse.Token
	frozen bool
	// held is the time before which no money leaves it.
	held bourse.Time
	// keys counts the live ones.
	keys int
}

type keyFact struct {
	token   bourse.Token
	account bourse.AccountID
	digest  bourse.RowDigest
}

func newFacts() *facts {
	return &facts{accounts: make([]accountFact, 1), keys: map[bourse.KeyID]*keyFact{}, books: books{}}
}

// account returns what is known of an account; nil if the journal has none.
func (f *facts) account(id bourse.AccountID) *accountFact {
	if id == 0 || uint64(id) >= uint64(len(f.accounts)) {
		return nil
	}
	return &f.accounts[id]
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
		case bourse.EventAccountHeld:
			f.accounts[ev.Facts[e.At].Account].held = ev.Facts[e.At].Until
		case bourse.EventKeyCreated:
			s.foldKey(f, &ev.Facts[e.At])
		case bourse.EventKeyChanged:
			s.foldKeyChanged(f, &ev.Facts[e.At])
		case bourse.EventKeyRevoked:
			s.foldRevoked(f, ev.Facts[e.At].Key, cmd.Time)
		case bourse.EventKeysRestored:
			f.lastKey = ev.Facts[e.At].Key
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
	f.keys[fact.Key] = &keyFact{token: fact.Token, account: fact.Account, digest: fact.Digest}
	f.lastKey = max(f.lastKey, fact.Key)
	f.accounts[fact.Account].keys++
	if row := s.waiting[fact.Token]; row != nil {
		delete(s.waiting, fact.Token)
		s.open.Keys[fact.Token] = fact.Key
		row.ID = fact.Key
		s.admit(row)
	}
}

// foldKeyChanged takes in what became of a key. Connections that it has opened end:
// they may no longer be allowed.
func (s *Service) foldKeyChanged(f *facts, fact *bourse.Fact) {
	f.keys[fact.Key].digest = fact.Digest
	c := s.changing[fact.Digest]
	if c == nil {
		return
	}
	delete(s.changing, fact.Digest)
	s.open.Changed[fact.Key] = *c
	if was := s.byKey[fact.Key]; was != nil {
		row := was.row()
		s.admit(row.with(c))
		s.byKey[fact.Key].used.Store(was.used.Load())
	}
	s.revoked = append(s.revoked, fact.Key)
}

func (s *Service) foldRevoked(f *facts, key bourse.KeyID, at bourse.Time) {
	f.accounts[f.keys[key].account].keys--
	delete(f.keys, key)
	if s.restored == nil {
		s.open.Revoked[key] = at
		s.expel(key)
	}
}

// expel forgets a key that ended. The caller holds mu.
func (s *Service) expel(key bourse.KeyID) {
	if c := s.byKey[key]; c != nil {
		delete(s.credentials, c.hash)
		delete(s.byKey, key)
	}
	s.revoked = append(s.revoked, key)
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

// install makes what a snapshot restored what everybody sees. Keys that were good
// until now and are not there, or have other rows, ended or changed meanwhile, and
// saved addresses that are gone were forgotten.
func (s *Service) install() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, was := range s.facts.keys {
		if now := s.restored.keys[id]; now == nil || now.digest != was.digest {
			s.expel(id)
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
	maps.Copy(s.Changed, work.Changed)
	maps.Copy(s.Revoked, work.Revoked)
	maps.Copy(s.Addresses, work.Addresses)
	s.Forgotten = append(s.Forgotten, work.Forgotten...)
	s.Dropped = append(s.Dropped, work.Dropped...)
}
