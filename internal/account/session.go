package account

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// How long a session lasts, and how many an account has: the oldest one ends when
// there is one more.
const (
	sessionFor    = bourse.Day
	rememberedFor = 30 * bourse.Day
	mostSessions  = 100
)

// LogIn is a request for a session.
type LogIn struct {
	Email, Password string
	// Remember makes it last longer.
	Remember bool
	Act
}

var (
	// ErrLogIn says that an address and a password do not belong together, and
	// not which of them is wrong.
	ErrLogIn = bourse.Errorf(bourse.CodeUnauthorized, "E-mail or password is wrong")
	// ErrPassword says that a person's own password is wrong.
	ErrPassword = bourse.Errorf(bourse.CodeUnauthorized, "The password is wrong")
)

// mostAccountFailures is how many wrong passwords an account may see within an hour.
const mostAccountFailures = 10

// LogIn begins a session, whose secret is returned this once. The errors are
// ErrLogIn, those of SecondFactor, and *bourse.Errors with CodeBusy after too many
// failures.
func (s *Service) LogIn(ctx context.Context, in LogIn) (Secret, error) {
	email, err := NormalizeEmail(in.Email)
	if err != nil {
		return "", err
	}
	row, found, err := s.Store.AccountOf(ctx, email)
	if err != nil {
		return "", err
	}
	switch ok, err := s.checkPassword(ctx, email, row.Password, in.Password, in.Visit); {
	case err != nil:
		return "", err
	case !ok && found:
		s.log(ctx, row.ID, failedLogIn, in.Visit, "")
		return "", ErrLogIn
	case !ok:
		return "", ErrLogIn
	}
	in.Case = CaseLogin
	if err := s.confirm(ctx, row.ID, in.Act); err != nil {
		return "", err
	}
	return s.begin(ctx, row.ID, &in)
}

// checkPassword compares a password, as often as that is allowed.
func (s *Service) checkPassword(ctx context.Context, email, hash, password string, v Visit) (bool, error) {
	from := Neighbourhood(v.From).String()
	if !s.addresses.take(from, s.now()) {
		return false, errTooMany
	}
	if !s.passwords.take(email, s.now()) {
		s.addresses.back(from)
		return false, errTooMany
	}
	ok, err := s.hasher.verify(ctx, hash, password)
	if ok || err != nil {
		s.passwords.back(email)
		s.addresses.back(from)
	}
	return ok, err
}

// begin makes a session.
func (s *Service) begin(ctx context.Context, id bourse.AccountID, in *LogIn) (Secret, error) {
	secret, err := newSecret(s.Random)
	if err != nil {
		return "", err
	}
	now := s.now()
	row := &SessionRow{Hash: secret.hash(), Session: Session{
		Account: id, Agent: in.agent(), Created: now, Expires: now + sessionFor, Used: now,
	}}
	if in.Remember {
		row.Expires = now + rememberedFor
	}
	s.mu.Lock()
	s.lastSession++
	row.ID = s.lastSession
	s.mu.Unlock()
	if err := s.Store.AddSession(ctx, row); err != nil {
		return "", err
	}
	s.mu.Lock()
	s.admitSession(row)
	s.mu.Unlock()
	if list := s.Sessions(id); len(list) > mostSessions {
		if err := s.end(ctx, list[:len(list)-mostSessions]); err != nil {
			return "", err
		}
	}
	s.log(ctx, id, didLogIn, in.Visit, "")
	return secret, nil
}

// sessionKeys are where the numbers begin by which sessions are known where keys
// have theirs; no key comes so far.
const sessionKeys = 1 << 31

// admitSession makes a session known to Authenticate. The caller holds mu.
func (s *Service) admitSession(row *SessionRow) {
	c := &credential{
		Identity: Identity{
			Account: row.Account, Key: sessionKeys + bourse.KeyID(row.ID), Scopes: sessionScopes, Session: row.ID,
		},
		hash: row.Hash, expires: row.Expires, session: row.Session,
	}
	c.used.Store(int64(row.Used))
	s.credentials[row.Hash] = c
	if s.sessions[row.Account] == nil {
		s.sessions[row.Account] = map[SessionID]*credential{}
	}
	s.sessions[row.Account][row.ID] = c
	s.owners[row.ID] = row.Account
}

// Sessions returns an account's sessions by ascending id.
func (s *Service) Sessions(id bourse.AccountID) []Session {
	now := s.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []Session
	for _, c := range s.sessions[id] {
		if now < c.expires {
			one := c.session
			one.Used = bourse.Time(c.used.Load())
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

var (
	errNoSession = bourse.Errorf(bourse.CodeNotFound, "Session not found")
	errForeign   = bourse.Errorf(bourse.CodeForbidden, "It belongs to another account")
)

// Session returns a session of an account. The error is an *bourse.Error with
// CodeNotFound, or CodeForbidden if it is another account's.
func (s *Service) Session(account bourse.AccountID, id SessionID) (Session, error) {
	for _, one := range s.Sessions(account) {
		if one.ID == id {
			return one, nil
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if owner, known := s.owners[id]; known && owner != account {
		return Session{}, errForeign
	}
	return Session{}, errNoSession
}

// EndSession ends a session of an account, from now on and everywhere. The errors
// are those of Session.
func (s *Service) EndSession(ctx context.Context, account bourse.AccountID, id SessionID, v Visit) error {
	one, err := s.Session(account, id)
	if err != nil {
		return err
	}
	if err := s.end(ctx, []Session{one}); err != nil {
		return err
	}
	s.log(ctx, account, endedSession, v, one.Agent)
	return nil
}

// EndSessions ends all sessions of an account but one; zero for all.
func (s *Service) EndSessions(ctx context.Context, account bourse.AccountID, but SessionID) error {
	return s.end(ctx, slices.DeleteFunc(s.Sessions(account), func(one Session) bool { return one.ID == but }))
}

func (s *Service) end(ctx context.Context, list []Session) error {
	ids := make([]SessionID, len(list))
	s.mu.Lock()
	for i := range list {
		ids[i] = list[i].ID
		s.forget(list[i].Account, ids[i])
	}
	s.mu.Unlock()
	for _, id := range ids {
		s.OnRevoke(sessionKeys + bourse.KeyID(id))
	}
	return s.Store.EndSessions(context.WithoutCancel(ctx), ids)
}

// forget takes a session out of memory. The caller holds mu.
func (s *Service) forget(account bourse.AccountID, id SessionID) {
	if c := s.sessions[account][id]; c != nil {
		delete(s.credentials, c.hash)
		delete(s.sessions[account], id)
		delete(s.owners, id)
	}
	if len(s.sessions[account]) == 0 {
		delete(s.sessions, account)
	}
}

// openSessions reads the sessions that are left.
func (s *Service) openSessions(ctx context.Context) error {
	var over []SessionID
	now := s.now()
	s.mu.Lock()
	err := s.Store.Sessions(ctx, func(row *SessionRow) error {
		s.lastSession = max(s.lastSession, row.ID)
		if now >= row.Expires {
			over = append(over, row.ID)
			return nil
		}
		s.admitSession(row)
		return nil
	})
	s.mu.Unlock()
	if err != nil || len(over) == 0 {
		return err
	}
	return s.Store.EndSessions(ctx, over)
}

// noteUse tells the store which sessions and keys were used since it was told
// last, once a minute, and ends the sessions whose time is over.
func (s *Service) noteUse(ctx context.Context) error {
	now := s.now()
	s.mu.Lock()
	if now < s.noted+bourse.Minute {
		s.mu.Unlock()
		return nil
	}
	since := s.noted
	s.noted = now
	sessions, keys := map[SessionID]bourse.Time{}, map[bourse.KeyID]bourse.Time{}
	var over []Session
	for _, c := range s.credentials {
		used := bourse.Time(c.used.Load())
		switch {
		case c.Session != 0 && now >= c.expires:
			over = append(over, c.session)
		case used < since:
		case c.Session != 0:
			sessions[c.Session] = used
		default:
			keys[c.Key] = used
		}
	}
	s.mu.Unlock()
	if len(over) > 0 {
		if err := s.end(ctx, over); err != nil {
			return err
		}
	}
	if len(sessions)+len(keys) == 0 {
		return nil
	}
	return s.Store.Used(ctx, sessions, keys)
}
