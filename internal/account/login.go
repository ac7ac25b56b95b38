package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// LogIn is a request for a session.
type LogIn struct {
	Email, Password string
	// Remember extends the session's life to rememberedFor.
	Remember bool
	// Act has the request's second factor and source. Service.LogIn sets its Case and What.
	Act
}

var (
	// ErrLogIn is the answer to a wrong address or password, and does not say which one
	// is wrong.
	ErrLogIn = bourse.Errorf(bourse.CodeUnauthorized, "E-mail or password is wrong")
	// ErrPassword is the answer to a wrong password of one's own account.
	ErrPassword = bourse.Errorf(bourse.CodeUnauthorized, "The password is wrong")
)

// LogIn begins a session. The secret is returned this once. The errors are ErrLogIn,
// those of SecondFactor, and *bourse.Errors with CodeBusy after too many failures.
func (s *Service) LogIn(ctx context.Context, in LogIn) (Secret, error) {
	email, err := NormalizeEmail(in.Email)
	if err != nil {
		return "", err
	}
	row, _, err := s.personOf(ctx, email)
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
		// An address without an account writes the same row, under account 0.
		s.log(ctx, row.ID, failedLogIn, in.Visit, "")
		return "", ErrLogIn
	}

	in.Case, in.What = CaseLogin, "Log in"
	if err := s.confirm(ctx, row.ID, in.Act); err != nil {
		return "", err
	}
	return s.begin(ctx, &row, &in)
}

// failures returns the quotas that a wrong log-in password counts against: the source's,
// and the address's. A source with an earlier log-in to the account has its own count, so
// that strangers cannot lock it out.
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

// checkPassword compares a password, if the quotas of its failures allow it.
func (s *Service) checkPassword(
	ctx context.Context, hash, password string, v Visit, failures ...spending,
) (bool, error) {
	if err := s.spend(failures...); err != nil {
		return false, err
	}
	ok, err := s.hasher.verify(ctx, v.source(), hash, password)
	if ok || err != nil {
		for _, f := range failures {
			s.shared.Back(f.quota, f.name)
		}
	}
	return ok, err
}
