package account

import (
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// facts are what the journal says of accounts, by their dense ids (index zero is
// nobody's), of live keys and sessions, and of address books.
type facts struct {
	accounts []accountFact
	keys     map[bourse.KeyID]*keyFact
	// lastKey and lastSession are the newest that there ever were.
	lastKey, lastSession bourse.KeyID
	books                books
}

type accountFact struct {
	token  bourse.Token
	frozen bool
	// held is the time before which no money leaves it.
	held bourse.Time
	// person is the digest of the row of the person; zero if it has none.
	person bourse.RowDigest
	// keys and sessions are the live ones, oldest first.
	keys, sessions []bourse.KeyID
}

type keyFact struct {
	token   bourse.Token
	account bourse.AccountID
	digest  bourse.RowDigest
}

func newFacts() *facts {
	return &facts{
		accounts: make([]accountFact, 1), keys: map[bourse.KeyID]*keyFact{}, lastSession: bourse.FirstSession, books: books{},
	}
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
		case bourse.EventPersonChanged:
			s.foldPerson(f, &ev.Facts[e.At])
		case bourse.EventKeyCreated:
			s.foldKey(f, &ev.Facts[e.At])
		case bourse.EventKeyChanged:
			s.foldKeyChanged(f, &ev.Facts[e.At])
		case bourse.EventKeyRevoked:
			s.foldRevoked(f, ev.Facts[e.At].Key, cmd.Time)
		case bourse.EventKeysRestored:
			f.reached(ev.Facts[e.At].Key)
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
	f.accounts = append(f.accounts, accountFact{token: fact.Token, frozen: fact.On, person: fact.Digest})
	if _, ok := s.waiting[fact.Token]; ok {
		delete(s.waiting, fact.Token)
		s.open.Accounts[fact.Token] = fact.Account
	}
}

// foldPerson takes in what became of the row of a person.
func (s *Service) foldPerson(f *facts, fact *bourse.Fact) {
	f.accounts[fact.Account].person = fact.Digest
	row := s.persons[fact.Digest]
	if row == nil {
		return
	}
	delete(s.persons, fact.Digest)
	if was, ok := s.open.People[fact.Account]; ok {
		s.open.Dropped = append(s.open.Dropped, bourse.Token(was.Salt))
	}
	s.open.People[fact.Account] = *row
}

// reached notes that there was a key or session of an id.
func (f *facts) reached(id bourse.KeyID) {
	if id.IsSession() {
		f.lastSession = max(f.lastSession, id)
	} else {
		f.lastKey = max(f.lastKey, id)
	}
}

func (s *Service) foldKey(f *facts, fact *bourse.Fact) {
	f.keys[fact.Key] = &keyFact{token: fact.Token, account: fact.Account, digest: fact.Digest}
	f.reached(fact.Key)
	acct := &f.accounts[fact.Account]
	if fact.Key.IsSession() {
		acct.sessions = append(acct.sessions, fact.Key)
		return
	}
	acct.keys = append(acct.keys, fact.Key)
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
	acct := &f.accounts[f.keys[key].account]
	if key.IsSession() {
		acct.sessions = slices.DeleteFunc(acct.sessions, func(id bourse.KeyID) bool { return id == key })
	} else {
		acct.keys = slices.DeleteFunc(acct.keys, func(id bourse.KeyID) bool { return id == key })
	}
	delete(f.keys, key)
	if s.restored != nil {
		return
	}
	if key.IsSession() {
		s.open.Ended = append(s.open.Ended, sessionOf(key))
	} else {
		s.open.Revoked[key] = at
	}
	s.expel(key)
}

// expel forgets a key or session that ended. The caller holds mu.
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
			if id.IsSession() {
				s.open.Ended = append(s.open.Ended, sessionOf(id))
			}
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
	for id := range work.People {
		if _, later := s.People[id]; later {
			s.Dropped = append(s.Dropped, bourse.Token(work.People[id].Salt))
		} else {
			s.People[id] = work.People[id]
		}
	}
	s.Ended = append(s.Ended, work.Ended...)
	maps.Copy(s.Revoked, work.Revoked)
	maps.Copy(s.Addresses, work.Addresses)
	s.Forgotten = append(s.Forgotten, work.Forgotten...)
	s.Dropped = append(s.Dropped, work.Dropped...)
}
