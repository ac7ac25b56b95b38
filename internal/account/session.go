package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// The life of a session. An account has at most bourse.MaxSessions: one more ends the
// least recently used one.
const (
	sessionFor    = bourse.Day
	rememberedFor = 30 * bourse.Day
)

// begin makes a session for a person who gave the row's password. The journal allots the
// id and keeps the digest of the row, which is written afterwards: an id without a row
// grants nothing.
func (s *Service) begin(ctx context.Context, person *AccountRow, in *LogIn) (Secret, error) {
	takes := spending{logInsByAccount, idName(person.ID)}
	if err := s.spend(takes); err != nil {
		return "", err
	}
	defer s.naming.Lock(person.ID)()
	s.mu.RLock()
	same := s.facts.has(person)
	s.mu.RUnlock()
	if !same { // the password changed since it was checked
		return "", ErrLogIn
	}

	if err := s.Ready(bourse.CommandOpenSession); err != nil {
		return "", err
	}
	row, secret, err := s.newSession(person.ID, in)
	if err != nil {
		return "", err
	}
	if err := s.makeRoom(ctx, person.ID); err != nil {
		return "", err
	}
	id, err := s.do(ctx, &bourse.Command{
		Kind: bourse.CommandOpenSession, Account: row.Account,
		Access: &bourse.Access{Digest: row.digest(), Expires: row.Expires},
	})
	if err != nil {
		return "", err
	}
	row.ID = sessionOf(bourse.KeyID(id))
	if err := s.Store.AddSession(context.WithoutCancel(ctx), row); err != nil {
		return "", errors.Join(err, s.end(ctx, row.ID.key()))
	}

	s.mu.Lock()
	if s.facts.keys[row.ID.key()] != nil { // it may have ended already
		s.admitSession(row)
	}
	s.mu.Unlock()
	s.log(ctx, person.ID, didLogIn, in.Visit, "")
	return secret, nil
}

// newSession makes a session without an id.
func (s *Service) newSession(id bourse.AccountID, in *LogIn) (*SessionRow, Secret, error) {
	secret, err := newSecret(s.Random)
	if err != nil {
		return nil, "", err
	}
	salt, err := s.newSalt()
	if err != nil {
		return nil, "", err
	}
	now := s.now()
	row := &SessionRow{Hash: secret.hash(), Salt: salt, Session: Session{
		Account: id, Agent: in.agent(), Address: in.address(), Created: now, Expires: now + sessionFor, Used: now,
	}}
	if in.Remember {
		row.Expires = now + rememberedFor
	}
	return row, secret, nil
}

// makeRoom ends the least recently used sessions until there is room for one more.
// Sessions without a row, left by a crash or an unheard outcome, go first.
func (s *Service) makeRoom(ctx context.Context, id bourse.AccountID) error {
	for {
		surplus := s.leastUsed(id)
		if surplus == 0 {
			return nil
		}
		if err := s.end(ctx, surplus); err != nil {
			return err
		}
	}
}

// leastUsed returns the least recently used session of an account without room for
// another one; zero if there is room.
func (s *Service) leastUsed(id bourse.AccountID) bourse.KeyID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.facts.account(id)
	if f == nil || len(f.sessions) < bourse.MaxSessions {
		return 0
	}
	least, before := f.sessions[0], bourse.Time(0)
	for i, key := range f.sessions {
		used := bourse.Time(-1)
		if c := s.byKey[key]; c != nil {
			used = bourse.Time(c.used.Load())
		}
		if i == 0 || used < before {
			least, before = key, used
		}
	}
	return least
}

// Sessions returns an account's sessions by ascending id.
func (s *Service) Sessions(id bourse.AccountID) []Session {
	now := s.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.facts.account(id)
	if f == nil {
		return nil
	}
	var list []Session
	for _, key := range f.sessions {
		if c := s.byKey[key]; c != nil && now < c.Expires {
			one := c.session
			one.Used = bourse.Time(c.used.Load())
			list = append(list, one)
		}
	}
	return list
}

var (
	errNoSession = bourse.Errorf(bourse.CodeNotFound, "Session not found")
	errForeign   = bourse.Errorf(bourse.CodeForbidden, "It belongs to another account")
)

// Session returns a session of an account. The error is an *bourse.Error with
// CodeNotFound, or CodeForbidden if another account owns it.
func (s *Service) Session(account bourse.AccountID, id SessionID) (Session, error) {
	for _, one := range s.Sessions(account) {
		if one.ID == id {
			return one, nil
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f := s.facts.keys[id.key()]; f != nil && f.account != account {
		return Session{}, errForeign
	}
	return Session{}, errNoSession
}

// EndSession ends a session of an account, immediately and on every node. The errors are
// those of Session and of a command.
func (s *Service) EndSession(ctx context.Context, account bourse.AccountID, id SessionID, v Visit) error {
	one, err := s.Session(account, id)
	if err != nil {
		return err
	}
	if err := s.end(ctx, id.key()); err != nil {
		return err
	}
	s.log(ctx, account, endedSession, v, one.Agent)
	return nil
}

// EndSessions ends all sessions of an account but one; zero for all.
func (s *Service) EndSessions(ctx context.Context, account bourse.AccountID, but SessionID) error {
	for _, one := range s.Sessions(account) {
		if one.ID == but {
			continue
		}
		if err := s.end(ctx, one.ID.key()); err != nil {
			return err
		}
	}
	return nil
}

// end ends a session; one that ended before is no error.
func (s *Service) end(ctx context.Context, key bourse.KeyID) error {
	_, err := s.do(context.WithoutCancel(ctx), &bourse.Command{Kind: bourse.CommandRevokeKey, Key: key})
	if err != nil && !isUnknownKey(err) {
		return err
	}
	// The session ended, even if the store fails now: a later Confirm removes the row.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return nil
}

func isUnknownKey(err error) bool {
	var e *bourse.Error
	return errors.As(err, &e) && e.Code == bourse.CodeNotFound
}

// session reconciles a session's row at a start. A row that the journal does not have is
// removed; one that a third party wrote raises an alarm.
func (r *reconciliation) session(row *SessionRow) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := row.ID.key()
	f := r.facts.keys[key]
	if f != nil && f.account == row.Account && f.digest == row.digest() {
		r.admitSession(row)
		return nil
	}
	if f != nil || key > r.facts.lastSession {
		r.OnForged("session", fmt.Errorf("session %d of account %d is not the one in the journal: it is removed",
			row.ID, row.Account))
	}
	r.work.Ended = append(r.work.Ended, row.ID)
	return nil
}

// noteUse writes the last use of sessions and keys to the store, once a minute.
func (s *Service) noteUse(ctx context.Context) error {
	now := s.now()
	s.mu.Lock()
	due := now >= s.noted+bourse.Minute
	if due {
		s.noted = now
	}
	s.mu.Unlock()
	if !due {
		return nil
	}

	sessions, keys := map[SessionID]bourse.Time{}, map[bourse.KeyID]bourse.Time{}
	for _, c := range s.used.take() {
		if at := bourse.Time(c.used.Load()); c.Session != 0 {
			sessions[c.Session] = at
		} else {
			keys[c.Key] = at
		}
	}
	if len(sessions)+len(keys) == 0 {
		return nil
	}
	return s.Store.Used(ctx, sessions, keys)
}
