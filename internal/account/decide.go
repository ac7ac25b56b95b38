package account

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

func newDecisions() Decisions {
	return Decisions{
		Accounts: map[bourse.Token]bourse.AccountID{},
		Keys:     map[bourse.Token]bourse.KeyID{},
		Changed:  map[bourse.KeyID]KeyChange{},
		People:   map[bourse.AccountID]AccountRow{},
		Revoked:  map[bourse.KeyID]bourse.Time{},

		Addresses: map[bourse.Token]bourse.AddressID{},
	}
}

// decide submits the command of a pending row: of a key, or of an account if key is nil.
// The row is confirmed if decide returns an id, and dropped if the command was not taken.
// If the outcome is unknown, the row stays for a later event or the next start.
func (s *Service) decide(ctx context.Context, cmd *bourse.Command, key *KeyRow) (uint64, error) {
	s.mu.Lock()
	s.waiting[cmd.Token] = key
	s.mu.Unlock()
	id, err := s.do(ctx, cmd)
	if err != nil && !notTaken(err) {
		return 0, err
	}
	if err != nil {
		s.mu.Lock()
		delete(s.waiting, cmd.Token)
		s.open.Dropped = append(s.open.Dropped, cmd.Token)
		s.mu.Unlock()
	}
	// The journal has decided, so the caller's cancellation no longer applies.
	if failed := s.Confirm(context.WithoutCancel(ctx)); failed != nil {
		return 0, errors.Join(err, failed)
	}
	return id, err
}

// do submits a command; a refusal becomes an *bourse.Error.
func (s *Service) do(ctx context.Context, cmd *bourse.Command) (uint64, error) {
	o, err := s.submit(ctx, cmd)
	if err == nil && o.Reason != 0 {
		err = refusal(o.Reason)
	}
	return o.ID, err
}

// notTaken reports whether err means that the command has no effect.
func notTaken(err error) bool {
	var e *bourse.Error
	return errors.As(err, &e) && e.Code != bourse.CodeUnknown
}

func refusal(reason bourse.Reason) error {
	switch reason {
	case bourse.UnknownAccount:
		return bourse.Errorf(bourse.CodeNotFound, "Account not found")
	case bourse.UnknownKey:
		return bourse.Errorf(bourse.CodeNotFound, "Key not found")
	case bourse.AddressNotFound:
		return errNoAddress
	case bourse.TooMany:
		return bourse.Errorf(bourse.CodeRefused, "%s: there can be no more of them", reason)
	default:
		return bourse.Errorf(bourse.CodeRefused, "%s", reason)
	}
}

// Confirm writes the journal's decisions to the store. Each creation calls it. It also
// retries failed writes of earlier calls, and writes outcomes that no caller waited for,
// so it should be called periodically.
func (s *Service) Confirm(ctx context.Context) error {
	if err := s.confirming.Lock(ctx); err != nil {
		return err
	}
	defer s.confirming.Unlock()

	done := s.settleOrdered()
	err := s.confirmOpen(ctx)
	for _, o := range done {
		s.tellReset(ctx, o)
	}
	return err
}

// confirmOpen writes the open decisions. The caller holds confirming.
func (s *Service) confirmOpen(ctx context.Context) error {
	s.mu.Lock()
	work := s.open
	if work.empty() {
		s.mu.Unlock()
		return s.noteUse(ctx)
	}
	s.open = newDecisions()
	s.mu.Unlock()
	if err := s.Store.Confirm(ctx, &work); err != nil {
		s.mu.Lock()
		s.open.merge(&work)
		s.mu.Unlock()
		return err
	}
	return nil
}
