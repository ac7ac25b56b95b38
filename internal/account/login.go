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

// LogIn begins a session, whose secret is returned this once. The errors are
// ErrLogIn, those of SecondFactor, and *bourse.Errors with CodeBusy after too many
// failures.
func (s *Service) LogIn(ctx context.Context, in LogIn) (Secret, error) {
	email, err := NormalizeEmail(in.Email)
	if err != nil {
		return "", err
	}
	row, _, err := s.Store.AccountOf(ctx, email)
	if err != nil {
		return "", err
	}
	failures, err := s.failures(ctx, email, &row, in.Visit)
	if err != nil {
		return "", err
	}

	switch ok, err := s.checkPassword(ctx, row.Password, in.Password, in.Visit, failures...); {
	case err != nil:
		return "", err
	case !ok:
		// An address without an account costs the same row: of account 0.
		s.log(ctx, row.ID, failedLogIn, in.Visit, "")
		return "", ErrLogIn
	}

	in.Case = CaseLogin
	if err := s.confirm(ctx, row.ID, in.Act); err != nil {
		return "", err
	}
	return s.begin(ctx, row.ID, &in)
}

// failures are what a wrong password of a log-in counts against: the source, and the
// address. A source from which somebody has logged in to the account before has a
// count of its own, so that strangers do not lock it out.
func (s *Service) failures(ctx context.Context, email string, row *AccountRow, v Visit) ([]spending, error) {
	known, err := s.knows(ctx, row.ID, v.source())
	if err != nil {
		return nil, err
	}
	from := v.source().String()
	if known {
		email += " from " + from
	}
	return []spending{{passwordsBySource, from}, {passwordsByAccount, email}}, nil
}

// checkPassword compares a password, as often as what its failures count against
// allows.
func (s *Service) checkPassword(ctx context.Context, hash, password string, v Visit, failures ...spending) (bool, error) {
	if !s.spend(failures...) {
		return false, errTooMany
	}
	ok, err := s.hasher.verify(ctx, v.source(), hash, password)
	if ok || err != nil {
		for _, f := range failures {
			s.shared.Back(f.quota, f.name)
		}
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
	if err := s.shared.AddSession(ctx, row); err != nil {
		return "", err
	}
	s.mu.Lock()
	s.admitSession(row)
	s.mu.Unlock()
	if err := s.endSurplus(ctx, id, row.ID); err != nil {
		return "", err
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
			Account: row.Account, Key: sessionKeys + bourse.KeyID(row.ID), Scopes: sessionScopes, Session: row.ID, Expires: row.Expires,
		},
		hash: row.Hash, session: row.Session,
	}
	c.used.Store(int64(row.Used))
	s.credentials[row.Hash] = c
	if s.sessions[row.Account] == nil {
		s.sessions[row.Account] = map[SessionID]*credential{}
	}
	s.sessions[row.Account][row.ID] = c
	s.owners[row.ID] = row.Account
}
