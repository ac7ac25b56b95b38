package account

import (
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// facts are the journal's state of accounts, indexed by their dense ids (index zero is
// unused), of live keys and sessions, and of address books.
type facts struct {
	accounts []accountFact
	keys     map[bourse.KeyID]*keyFact
	// lastKey and lastSession are the highest ids ever allotted.
	lastKey, lastSession bourse.KeyID
	books                books
}

type accountFact struct {
	token  bourse.Token
	frozen bool
	// held is the end of the hold of withdrawals.
	held bourse.Time
	// person is the digest of the person's row; zero for an account without a person.
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
		accounts: make([]accountFact, 1), keys: map[bourse.KeyID]*keyFact{},
		lastSession: bourse.FirstSession, books: books{},
	}
}

// account returns an account's state; nil if the journal has no such account.
func (f *facts) account(id bourse.AccountID) *accountFact {
	if id == 0 || uint64(id) >= uint64(len(f.accounts)) {
		return nil
	}
	return &f.accounts[id]
}

// Reset prepares for a snapshot. Readers see the old state until End.
func (s *Service) Reset(func(name string) ([]byte, bool)) error {
	s.restored = newFacts()
	return nil
}

// Begin announces the commands of a frame.
func (s *Service) Begin() {}

// Observe applies the events of a command. Most commands have none of interest, and skip
// the lock.
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

// foldPerson applies a change of a person's row.
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

// reached notes that an id was allotted.
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

// foldKeyChanged applies a change of a key. Its connections are closed, because the new
// terms may not allow them.
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

// expel removes an ended key or session. The caller holds mu.
func (s *Service) expel(key bourse.KeyID) {
	if c := s.byKey[key]; c != nil {
		delete(s.credentials, c.hash)
		delete(s.byKey, key)
	}
	s.revoked = append(s.revoked, key)
}

// End closes the frame and reports the keys that were revoked in it.
func (s *Service) End() {
	if s.restored != nil {
		s.install()
	}
	for _, key := range s.revoked {
		s.OnRevoke(key)
	}
	s.revoked = s.revoked[:0]
}

// install replaces the state with the restored one. Live keys that are missing there, or
// have another digest, ended or changed meanwhile; missing saved addresses were
// forgotten.
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

// merge puts back decisions that the store did not take.
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
	s.Lost = append(s.Lost, work.Lost...)
	s.Dropped = append(s.Dropped, work.Dropped...)
}
