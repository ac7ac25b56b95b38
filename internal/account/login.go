package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
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
