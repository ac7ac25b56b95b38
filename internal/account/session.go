package account

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// How long a session lasts, and how many an account has: the least recently used
// one ends when there is one more.
const (
	sessionFor    = bourse.Day
	rememberedFor = 30 * bourse.Day
	mostSessions  = 50
)

// Sessions returns an account's sessions by ascending id.
func (s *Service) Sessions(id bourse.AccountID) []Session {
	now := s.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []Session
	for _, c := range s.sessions[id] {
		if now < c.Expires {
			one := c.session
			one.Used = bourse.Time(c.used.Load())
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// endSurplus ends the least recently used sessions that an account has too many,
// but not the newest one.
func (s *Service) endSurplus(ctx context.Context, id bourse.AccountID, newest SessionID) error {
	list := slices.DeleteFunc(s.Sessions(id), func(one Session) bool { return one.ID == newest })
	if len(list) < mostSessions {
		return nil
	}
	slices.SortStableFunc(list, func(a, b Session) int { return cmp.Compare(a.Used, b.Used) })
	return s.end(ctx, list[:len(list)+1-mostSessions])
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
	return s.shared.EndSessions(context.WithoutCancel(ctx), ids)
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
	err := s.shared.Sessions(ctx, func(row *SessionRow) error {
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
	return s.shared.EndSessions(ctx, over)
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
		case c.Session != 0 && now >= c.Expires:
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
