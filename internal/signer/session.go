package signer

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Session is a signer for one process of the exchange. It implements [Signer].
type Session struct {
	local *Local
	epoch Epoch
}

var _, _ Signer = (*Local)(nil), (*Session)(nil)

// Sign checks an unsigned transaction against the expectation and signs it, or returns the
// transaction that it signed before.
func (s *Session) Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error) {
	return s.local.sign(ctx, u, e, &s.epoch)
}

// After returns entries of a network's record.
func (s *Session) After(
	ctx context.Context, network bourse.NetworkID, record uint64,
) (chain.Hash, []Recorded, error) {
	return s.local.after(ctx, network, record, &s.epoch)
}

// Void ends a withdrawal.
func (s *Session) Void(ctx context.Context, network bourse.NetworkID, id bourse.WalletID) error {
	return s.local.void(ctx, network, id, &s.epoch)
}

// Sign signs without an epoch, for the process that holds the signer itself.
func (s *Local) Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error) {
	return s.sign(ctx, u, e, nil)
}

// After returns entries of a network's record.
func (s *Local) After(
	ctx context.Context, network bourse.NetworkID, record uint64,
) (chain.Hash, []Recorded, error) {
	return s.after(ctx, network, record, nil)
}

// Void ends a withdrawal.
func (s *Local) Void(ctx context.Context, network bourse.NetworkID, id bourse.WalletID) error {
	return s.void(ctx, network, id, nil)
}

// enter refuses a request of an epoch below the highest one. A nil epoch is that of the process which
// holds the signer itself, and is never refused. The caller holds mu.
func (s *Local) enter(epoch *Epoch) error {
	if s.broken != nil {
		return s.broken
	}
	if epoch != nil && epoch.Compare(s.pins.epoch()) < 0 {
		return ErrEpoch
	}
	return nil
}
