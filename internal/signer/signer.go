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

var (
	// ErrMismatch says that the bytes do not do what they are expected to do.
	ErrMismatch = errors.New("the transaction is not what was journaled")
	// ErrAnother says that what was signed for this withdrawal before pays
	// something else than is expected now.
	ErrAnother = errors.New("another payment was signed for this")
	// ErrLimit says that a limit of the signer stands against it.
	ErrLimit = errors.New("beyond the signer's limit")
	// ErrSpent is the [ErrLimit] of an hour or a day: a lesser amount may pass, and the
	// same one later.
	ErrSpent = fmt.Errorf("%w of an hour or a day", ErrLimit)
)

// Expect is what was journaled: what the bytes must do, and nothing more.
type Expect struct {
	Network bourse.NetworkID
	Kind    chain.Kind
	// ID is the withdrawal's; zero for sweeps and top-ups.
	ID bourse.WalletID
	// Attempt counts from zero the transactions for one withdrawal. There is a
	// further one only where those before it can never be mined, or are known
	// to be in nobody's hands.
	Attempt uint32
	Coin    chain.CoinID
	// Amount is what arrives; zero in a sweep of everything.
	Amount bourse.Amount
	To     chain.Destination
	// CostCap is the most that the network may take.
	CostCap bourse.Amount
	// Account is whose deposit address is swept or topped up; zero otherwise.
	Account uint32
	// Nonce is the payer's, on networks of accounts.
	Nonce uint64
}

// Signed is a transaction that can be broadcast.
type Signed struct {
	Raw  []byte
	Hash chain.Hash
}

// Signer signs what was journaled. It may be called by anybody at once.
type Signer interface {
	// Sign compares an unsigned transaction with what is expected of it and
	// signs it. For a withdrawal and attempt that something was signed for
	// before it returns that, which may spend other inputs, have another nonce
	// and cost more than is expected now; it pays the same. ErrMismatch,
	// ErrAnother and ErrLimit are final for these bytes, but for ErrSpent, after
	// which nothing was signed either; any other error says nothing about whether
	// a signature was made. After both the same may be asked again.
	Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error)
}

// Limit bounds what leaves of a coin in an hour and in a day. Zero is no bound.
type Limit struct {
	Hour, Day bourse.Amount
}

// Network is what the signer knows of one network.
type Network struct {
	// Codec is the signer's own, made from its own keys.
	Codec chain.Codec
	Keys  chain.Keyring
	// MaxCost is the most that one transaction may cost, and one top-up may
	// give, whatever the journal says. Zero allows no cost at all.
	MaxCost bourse.Amount
	// Limit returns the limit of a coin; nil sets none.
	Limit func(chain.CoinID) Limit
}

// Local is a signer in this process. It implements [Signer].
type Local struct {
	networks map[bourse.NetworkID]Network
	clock    func() bourse.Time

	mu     sync.Mutex
	log    *log
	broken error
	// done says where on record the transaction of a withdrawal is.
	done map[purpose]place
	// spent has the withdrawals of the last day, oldest first.
	spent []entry
}

// purpose is what a transaction was signed for.
type purpose struct {
	Network bourse.NetworkID `json:"network"`
	ID      bourse.WalletID  `json:"id"`
	Attempt uint32           `json:"attempt"`
}

// Open returns the signer whose record is in a directory.
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

// Sign compares an unsigned transaction with what is expected of it and signs
// it, or returns what it signed before.
func (s *Local) Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error) {
	if err := ctx.Err(); err != nil {
		return Signed{}, err
	}
	n, ok := s.networks[e.Network]
	if !ok {
		return Signed{}, fmt.Errorf("%w: network %d has no keys here", ErrMismatch, e.Network)
	}
	if err := n.check(u.Raw, &e); err != nil {
		return Signed{}, err
	}
	if e.Kind != chain.KindWithdrawal {
		// What stays ours may be signed in any number of forms: only one of
		// those with the same nonce is ever mined.
		return n.sign(u.Raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Signed{}, s.broken
	}
	p := purpose{e.Network, e.ID, e.Attempt}
	if at, ok := s.done[p]; ok {
		return s.repeat(&n, &e, at)
	}
	return s.first(&n, &e, p, u.Raw)
}

// repeat returns what is on record, if it pays what is expected now.
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

// first signs a transaction and makes it durable, if it may be signed now.
func (s *Local) first(n *Network, e *Expect, p purpose, raw []byte) (Signed, error) {
	if e.Attempt > 0 {
		if _, ok := s.done[purpose{p.Network, p.ID, p.Attempt - 1}]; !ok {
			return Signed{}, fmt.Errorf("%w: attempt %d without the one before it", ErrMismatch, e.Attempt)
		}
	}
	now := int64(s.clock())
	if err := s.checkLimits(n, e, now); err != nil {
		return Signed{}, err
	}
	signed, err := n.sign(raw)
	if err != nil {
		return Signed{}, err
	}
	made := entry{
		purpose: p, Hash: digest(signed.Hash), Coin: e.Coin, Amount: e.Amount.Format(0), Time: now, Raw: signed.Raw,
	}
	at, err := s.log.append(&made)
	switch {
	case errors.Is(err, syscall.ENOSPC) && !errors.Is(err, disk.ErrSync):
		return Signed{}, err // a full disk: nothing is signed, and it may be tried again
	case err != nil:
		s.broken = fmt.Errorf("signer: %w", err)
		return Signed{}, s.broken
	}
	s.remember(made, at)
	return signed, nil
}

// remember keeps what later questions need; the bytes are on record.
func (s *Local) remember(e entry, at place) {
	e.Raw = nil
	s.done[e.purpose] = at
	s.spent = append(s.spent, e)
}
