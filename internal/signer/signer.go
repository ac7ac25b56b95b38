package signer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// Dir is the directory of the signer's record in a data directory.
const Dir = "signer"

var (
	// ErrMismatch says that the bytes do not have the expected effects.
	ErrMismatch = errors.New("the transaction is not what was journaled")
	// ErrAnother says that the transaction signed earlier for this withdrawal has a
	// different payment.
	ErrAnother = errors.New("another payment was signed for this")
	// ErrLimit says that the payment exceeds a limit of the signer.
	ErrLimit = errors.New("beyond the signer's limit")
	// ErrSpent is the [ErrLimit] of a payment, an hour or a day: a smaller amount may pass
	// now, and the same amount later or with another limit.
	ErrSpent = fmt.Errorf("%w of a payment, an hour or a day", ErrLimit)
	// ErrCosts is the [ErrSpent] of the costs of an hour: no payment of the network passes
	// now.
	ErrCosts = fmt.Errorf("%w: costs", ErrSpent)
)

// Expect is the expectation from the journal: the exact effects of the bytes.
type Expect struct {
	Network bourse.NetworkID
	Kind    bourse.SignedKind
	// ID is the withdrawal's; zero for sweeps and top-ups.
	ID bourse.WalletID
	// Attempt numbers a withdrawal's transactions from zero. A further attempt requires
	// that earlier ones can never be mined, or were never broadcast.
	Attempt uint32
	Coin    chain.CoinID
	// Amount is the amount that arrives; never zero.
	Amount bourse.Amount
	To     chain.Destination
	// CostCap bounds the cost.
	CostCap bourse.Amount
	// Account is the index of the swept or topped-up deposit address; zero otherwise.
	Account uint32
	// Nonce is the payer's, on networks of accounts.
	Nonce uint64
}

// Signed is a transaction ready for broadcast.
type Signed struct {
	Raw  []byte
	Hash chain.Hash
}

// Signer signs payments of the journal. Safe for concurrent use.
type Signer interface {
	// Sign checks an unsigned transaction against the expectation and signs it. For a
	// withdrawal and attempt that it signed before, it returns the earlier transaction,
	// which makes the same payment but may have other inputs, another nonce and a higher
	// cost. ErrMismatch, ErrAnother and ErrLimit are final for these bytes, except for
	// ErrSpent, which means that nothing was signed. Any other error leaves open whether a
	// signature was made. In these two cases the caller may retry.
	Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error)
}

// Network is the signer's view of one network.
type Network struct {
	// Codec is the signer's own, made from its own keys.
	Codec chain.Codec
	Keys  chain.Keyring
	// MaxCost bounds the cost of one transaction, and the amount of one top-up,
	// regardless of the journal. Zero allows no cost at all.
	MaxCost bourse.Amount
	// HourCost bounds the costs of an hour, summed over all kinds of transactions. Zero
	// allows no cost at all.
	HourCost bourse.Amount
	// Limit returns the limit of a coin.
	Limit func(chain.CoinID) Limit
}

// Local is a signer in this process. It implements [Signer].
type Local struct {
	networks map[bourse.NetworkID]Network
	clock    func() bourse.Time

	mu     sync.Mutex
	log    *log
	broken error
	// done maps each purpose to its line of the record.
	done map[purpose]place
	// spent are the transactions of the last day, oldest first, without their bytes.
	spent []entry
}

// purpose identifies a withdrawal's attempt.
type purpose struct {
	Network bourse.NetworkID `json:"network"`
	ID      bourse.WalletID  `json:"id"`
	Attempt uint32           `json:"attempt"`
}

// Open opens the signer with the record in a directory.
func Open(d disk.Disk, networks map[bourse.NetworkID]Network, clock func() bourse.Time) (*Local, error) {
	s := &Local{networks: networks, clock: clock, done: map[purpose]place{}}
	var err error
	s.log, err = openLog(d, s.remember)
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	return s, nil
}

// Close releases the record.
func (s *Local) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = errors.New("the signer is closed")
	return s.log.file.Close()
}

// Sign checks an unsigned transaction against the expectation and signs it, or returns
// the transaction that it signed before.
func (s *Local) Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error) {
	if err := ctx.Err(); err != nil {
		return Signed{}, err
	}
	n, ok := s.networks[e.Network]
	if !ok {
		return Signed{}, fmt.Errorf("%w: network %d has no keys here", ErrMismatch, e.Network)
	}

	cost, err := n.check(u.Raw, &e)
	if err != nil {
		return Signed{}, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Signed{}, s.broken
	}

	made := e.entry(cost)
	if e.Kind != bourse.SignedWithdrawal {
		return s.make(&n, &e, made, u.Raw)
	}
	if at, ok := s.done[made.purpose]; ok {
		return s.repeat(&n, &e, at)
	}
	if e.Attempt > 0 {
		if _, ok := s.done[purpose{e.Network, e.ID, e.Attempt - 1}]; !ok {
			return Signed{}, fmt.Errorf("%w: attempt %d without the one before it", ErrMismatch, e.Attempt)
		}
	}
	return s.make(&n, &e, made, u.Raw)
}

// repeat returns the recorded transaction, if it makes the expected payment.
func (s *Local) repeat(n *Network, e *Expect, at place) (Signed, error) {
	before, err := s.log.entry(at)
	if err != nil {
		return Signed{}, fmt.Errorf("signer: %w", err)
	}
	d, err := n.Codec.Decode(before.Raw)
	if err != nil || !d.Signed {
		return Signed{}, fmt.Errorf("signer: what is on record for %d: %w", e.ID, errOrUnsigned(err))
	}
	if err := n.checkPays(&d, e); err != nil {
		return Signed{}, fmt.Errorf("%w: %w", ErrAnother, err)
	}
	return Signed{before.Raw, chain.Hash(before.Hash)}, nil
}

// entry returns the record of an expected transaction, still without its signature.
func (e *Expect) entry(cost bourse.Amount) *entry {
	made := &entry{
		purpose: purpose{e.Network, e.ID, e.Attempt}, Coin: e.Coin, Amount: e.Amount.Format(0), Cost: cost.Format(0),
	}
	if e.Kind != bourse.SignedWithdrawal {
		made.Kind = e.Kind
	}
	return made
}

// make signs a transaction within the limits, and records it before the signature leaves.
func (s *Local) make(n *Network, e *Expect, made *entry, raw []byte) (Signed, error) {
	made.Time = int64(s.clock())
	if err := s.checkLimits(n, e, made.cost(), made.Time); err != nil {
		return Signed{}, err
	}

	signed, err := n.sign(raw)
	if err != nil {
		return Signed{}, err
	}
	made.Hash, made.Raw = digest(signed.Hash), signed.Raw
	at, err := s.log.append(made)
	switch {
	case errors.Is(err, syscall.ENOSPC) && !errors.Is(err, disk.ErrSync):
		return Signed{}, err // a full disk: nothing has left, and the caller may retry
	case err != nil:
		s.broken = fmt.Errorf("signer: %w", err)
		return Signed{}, s.broken
	}
	s.remember(*made, at)
	return signed, nil
}

func (s *Local) remember(e entry, at place) {
	e.Raw = nil
	if e.Kind == 0 {
		s.done[e.purpose] = at
	}
	s.spent = append(s.spent, e)
}
