package account

import (
	"context"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Acceptance is that an account accepted a version of the terms.
type Acceptance struct {
	Account bourse.AccountID
	Version string
	Time    bourse.Time
	// Address is where it came from.
	Address string
}

// accepted are the accounts that accepted the current version. Safe for concurrent use.
type accepted struct {
	mu   sync.RWMutex
	list map[bourse.AccountID]struct{}
}

func (a *accepted) has(id bourse.AccountID) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, has := a.list[id]
	return has
}

func (a *accepted) add(id bourse.AccountID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list == nil {
		a.list = map[bourse.AccountID]struct{}{}
	}
	a.list[id] = struct{}{}
}

// ErrTermsVersion is the error for another version of the terms than the current one.
var ErrTermsVersion = bourse.Errorf(bourse.CodeInvalid, "terms: must be the current version of the terms")

// AcceptedTerms reports whether an account accepted the current terms; if there are none, all
// accounts have. It reads memory alone.
func (s *Service) AcceptedTerms(id bourse.AccountID) bool { return s.Terms == "" || s.accepted.has(id) }

// CheckTerms returns ErrTermsVersion for a version that is not the current one.
func (s *Service) CheckTerms(version string) error {
	if version == "" || version != s.Terms {
		return ErrTermsVersion
	}
	return nil
}

// AcceptTerms notes that an account accepts the current terms. The error is ErrTermsVersion for
// another version, which the holder may have read in place of it.
func (s *Service) AcceptTerms(ctx context.Context, id bourse.AccountID, version string, v Visit) error {
	if err := s.CheckTerms(version); err != nil || s.accepted.has(id) {
		return err
	}
	a := &Acceptance{Account: id, Version: version, Time: s.now(), Address: v.From.String()}
	if err := s.Store.AcceptTerms(ctx, a); err != nil {
		return err
	}

	s.accepted.add(id)
	s.log(ctx, id, acceptedTerms, v, version)
	return nil
}

// readAccepted reads who accepted the current terms.
func (s *Service) readAccepted(ctx context.Context) error {
	if s.Terms == "" {
		return nil
	}
	return s.Store.AcceptedTerms(ctx, s.Terms, func(a *Acceptance) error {
		s.accepted.add(a.Account)
		return nil
	})
}
