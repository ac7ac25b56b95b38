package signer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// withdrawal identifies a withdrawal.
type withdrawal struct {
	network bourse.NetworkID
	id      bourse.WalletID
}

// attempts are the signed transactions of a withdrawal.
type attempts struct {
	// records are the numbers of their entries, by attempt.
	records []uint64
	// void is true if none is signed any more.
	void bool
}

func (a *attempts) count() uint32 {
	if a == nil {
		return 0
	}
	return uint32(len(a.records))
}

// repeat returns an earlier transaction if it makes the expected payment.
func (s *Local) repeat(n *Network, e *Expect, record uint64) (Signed, error) {
	before, d, err := s.earlier(n, e, record)
	if err != nil {
		return Signed{}, err
	}
	if err := n.checkPaid(&before, &d, e); err != nil {
		return Signed{}, fmt.Errorf("%w: %w", ErrAnother, err)
	}
	return s.signedOf(&before, record), nil
}

// earlier returns an entry of the record, decoded.
func (s *Local) earlier(n *Network, e *Expect, record uint64) (entry, chain.Decoded, error) {
	before, err := s.log.entry(s.records[e.Network][record-1].place)
	if err != nil {
		return before, chain.Decoded{}, fmt.Errorf("signer: %w", err)
	}
	d, err := n.Codec.Decode(before.Raw)
	if err != nil || !d.Signed {
		return before, d, fmt.Errorf("signer: what is on record for %d: %w", e.ID, errOrUnsigned(err))
	}
	return before, d, nil
}

// signedOf returns the transaction of an entry.
func (s *Local) signedOf(e *entry, record uint64) Signed {
	return Signed{e.Raw, chain.Hash(e.Hash), record, s.records[e.Network][record-1].chain, e.shares()}
}

// look has what was decoded for one request, each transaction once: a hundred withdrawals can have the same ones, and
// each decoding verifies the signatures of all inputs.
type look struct {
	raw     []byte
	own     *chain.Decoded
	entries map[uint64]decoded
}

type decoded struct {
	entry entry
	tx    chain.Decoded
}

// excludes checks a further transaction of a withdrawal against the earlier ones. One that does not exclude them passes
// with approvals, and then counts as a payment of its own.
func (s *Local) excludes(n *Network, e *Expect, at *look, before *attempts) error {
	err := s.checkEarlier(n, e, at, before)
	if errors.Is(err, ErrRival) && s.approved(s.payment(n, e), int64(s.clock())) {
		e.further, err = true, nil
	}
	return err
}

// checkEarlier checks that a further transaction of a withdrawal makes the same payment as
// the earlier ones, and that a chain can hold only one of them: it spends an output of each
// of them, or has their nonce. A node's word that an earlier one is lost counts for
// nothing, and a withdrawal for which no such transaction is possible is for its operator
// to release.
func (s *Local) checkEarlier(n *Network, e *Expect, at *look, before *attempts) error {
	if before.count() == 0 {
		return nil
	}
	if at.own == nil {
		d, err := n.Codec.Decode(at.raw)
		if err != nil {
			return mismatch("%v", err)
		}
		at.own, at.entries = &d, map[uint64]decoded{}
	}

	for attempt, record := range before.records {
		old, known := at.entries[record]
		if !known {
			var err error
			if old.entry, old.tx, err = s.earlier(n, e, record); err != nil {
				return err
			}
			at.entries[record] = old
		}
		if err := n.checkPaid(&old.entry, &old.tx, e); err != nil {
			return fmt.Errorf("%w: %w", ErrAnother, err)
		}
		if !rivals(at.own, &old.tx) {
			return fmt.Errorf("%w: attempt %d", ErrRival, attempt)
		}
	}
	return nil
}

// rivals reports whether a chain can hold only one of two transactions.
func rivals(a, b *chain.Decoded) bool {
	if len(a.Inputs) == 0 && len(b.Inputs) == 0 {
		return a.From == b.From && a.Nonce == b.Nonce
	}
	return slices.ContainsFunc(a.Inputs, func(x chain.Input) bool {
		return slices.ContainsFunc(b.Inputs, func(y chain.Input) bool { return x.Outpoint == y.Outpoint })
	})
}

// after returns entries of a network's record.
func (s *Local) after(
	ctx context.Context, network bourse.NetworkID, record uint64, epoch *Epoch,
) (chained chain.Hash, list []Recorded, err error) {
	if err := ctx.Err(); err != nil {
		return chained, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.enter(epoch); err != nil {
		return chained, nil, err
	}
	all := s.records[network]
	switch {
	case record > uint64(len(all)):
		return chained, nil, fmt.Errorf("%w: it has %d of network %d, and not %d", ErrUnrecorded, len(all), network, record)
	case record > 0:
		chained = all[record-1].chain
	}

	for _, at := range all[record:min(record+MaxRecorded, uint64(len(all)))] {
		e, err := s.log.entry(at.place)
		if err != nil {
			return chained, nil, fmt.Errorf("signer: %w", err)
		}
		record++
		kind := e.Kind
		if kind == 0 {
			kind = bourse.SignedWithdrawal
		}
		list = append(list, Recorded{s.signedOf(&e, record), kind, e.ID})
	}
	return chained, list, nil
}

// void ends a withdrawal.
func (s *Local) void(ctx context.Context, network bourse.NetworkID, id bourse.WalletID, epoch *Epoch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.enter(epoch); err != nil {
		return err
	}
	before := s.done[withdrawal{network, id}]
	switch {
	case id == 0:
		return mismatch("not a withdrawal")
	case before != nil && before.void:
		return nil
	}
	err := s.append(&entry{
		purpose: purpose{Network: network, ID: id, Attempt: before.count()},
		Amount:  "0", Time: int64(s.clock()), Void: true,
	})
	if err == nil {
		s.used(Payment{Network: s.networks[network].Name, ID: id, Attempt: before.count()})
	}
	return err
}
