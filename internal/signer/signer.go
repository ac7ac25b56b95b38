package signer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
)

var (
	// ErrMismatch says that the bytes do not do what they are expected to do.
	ErrMismatch = errors.New("the transaction is not what was journaled")
	// ErrAnother says that another transaction was signed for this before.
	ErrAnother = errors.New("another transaction was signed for this")
	// ErrLimit says that a limit of the signer stands against it.
	ErrLimit = errors.New("beyond the signer's limit")
)

// Expect is what was journaled: what the bytes must do, and nothing more.
type Expect struct {
	Network bourse.NetworkID
	Kind    chain.Kind
	// ID is the withdrawal's; zero for sweeps and top-ups, which are told apart
	// by their payer and nonce.
	ID bourse.WalletID
	// Attempt counts from zero the transactions that operators authorised for
	// a withdrawal whose earlier ones can never be mined.
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
	// signs it. ErrMismatch, ErrAnother and ErrLimit are final for these bytes;
	// any other error says nothing about whether a signature was made, and the
	// same may be asked again. What was signed for the same withdrawal before is
	// signed again in place of u, if it does what is expected now.
	Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error)
}

// Limit bounds what leaves of a coin. Zero is no bound.
type Limit struct {
	Payment, Hour, Day bourse.Amount
}

// Network is what the signer knows of one network.
type Network struct {
	// Codec is the signer's own, made from its own keys.
	Codec chain.Codec
	Keys  chain.Keyring
	// MaxCost is the most that one transaction may cost, and one top-up may
	// give, whatever the journal says. Zero allows no cost at all.
	MaxCost bourse.Amount
	Limits  map[chain.CoinID]Limit
}

// Local is a signer in this process. It implements [Signer].
type Local struct {
	networks map[bourse.NetworkID]Network
	clock    func() bourse.Time

	mu     sync.Mutex
	log    *log
	broken error
	// done has what was signed, by what it was signed for; the bytes are in the
	// record alone.
	done map[purpose]entry
	// spent has the withdrawals of the last day, oldest first.
	spent []entry
}

// purpose is what a transaction was signed for. For withdrawals it is the
// withdrawal and the attempt, for the rest payer and nonce.
type purpose struct {
	Network bourse.NetworkID `json:"network"`
	Kind    chain.Kind       `json:"kind"`
	ID      bourse.WalletID  `json:"id"`
	Attempt uint32           `json:"attempt"`
	Account uint32           `json:"account"`
	Nonce   uint64           `json:"nonce"`
}

// Open returns the signer whose record is in a directory.
func Open(d disk.Disk, networks map[bourse.NetworkID]Network, clock func() bourse.Time) (*Local, error) {
	s := &Local{networks: networks, clock: clock, done: map[purpose]entry{}}
	var err error
	s.log, err = openLog(d, func(e entry) { s.remember(e) })
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

func purposeOf(e *Expect) purpose {
	p := purpose{Network: e.Network, Kind: e.Kind}
	if e.Kind == chain.KindWithdrawal {
		p.ID, p.Attempt = e.ID, e.Attempt
	} else {
		p.Account, p.Nonce = e.Account, e.Nonce
		if e.Kind == chain.KindTopUp {
			p.Account = chain.IndexHot // who pays, not who gets it
		}
	}
	return p
}

// Sign compares an unsigned transaction with what is expected of it and signs
// it.
//
// Payments of one address with one nonce exclude each other on the chain, so a
// sweep or a top-up may be signed anew with other bytes. Withdrawals may not.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Signed{}, s.broken
	}
	made := entry{
		purpose: purposeOf(&e), Unsigned: sha256.Sum256(u.Raw), Coin: e.Coin, Amount: e.Amount.Format(0), Raw: u.Raw,
	}
	before, repeated := s.done[made.purpose]
	if repeated && before.Unsigned != made.Unsigned && e.Kind == chain.KindWithdrawal {
		raw, err := s.again(&n, &before, &e)
		if err != nil {
			return Signed{}, err
		}
		u.Raw, made.Unsigned = raw, before.Unsigned
	}
	signed, err := n.sign(u.Raw, &e)
	if err != nil {
		return Signed{}, err
	}
	if repeated && before.Unsigned == made.Unsigned {
		if chain.Hash(before.Hash) != signed.Hash {
			return Signed{}, fmt.Errorf("signer: the same bytes got two names, %x and %x", before.Hash, signed.Hash)
		}
		return signed, nil
	}
	made.Hash, made.Time = digest(signed.Hash), int64(s.clock())
	if err := s.admit(&n, &e, made); err != nil {
		return Signed{}, err
	}
	return signed, nil
}

// again returns the bytes that were signed for a withdrawal before. They must do
// what is expected now; the payer's nonce and the cost are those of then, which
// were checked then.
func (s *Local) again(n *Network, before *entry, e *Expect) ([]byte, error) {
	raw, err := s.log.raw(before)
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	d, err := n.Codec.Decode(raw)
	if err != nil {
		return nil, ErrAnother
	}
	then := *e
	then.Nonce, then.CostCap = d.Nonce, d.Cost
	if n.check(raw, &then) != nil {
		return nil, ErrAnother
	}
	return raw, nil
}

// admit makes what was signed durable, if it may be signed now.
func (s *Local) admit(n *Network, e *Expect, made entry) error {
	if e.Attempt > 0 {
		earlier := made.purpose
		earlier.Attempt--
		if _, ok := s.done[earlier]; !ok {
			return fmt.Errorf("%w: attempt %d without the one before it", ErrMismatch, e.Attempt)
		}
	}
	if err := s.checkLimits(n, e, made.Time); err != nil {
		return err
	}
	if err := s.log.append(&made); err != nil {
		s.broken = fmt.Errorf("signer: %w", err)
		return s.broken
	}
	s.remember(made)
	return nil
}

func (s *Local) remember(e entry) {
	e.Raw = nil
	s.done[e.purpose] = e
	if e.Kind == chain.KindWithdrawal {
		s.spent = append(s.spent, e)
	}
}
