package signer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

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
	// ErrRival says that the transaction and an earlier one of its withdrawal could both
	// be mined.
	ErrRival = errors.New("an earlier transaction of the withdrawal is not excluded")
	// ErrNonce says that another withdrawal's transaction has the nonce.
	ErrNonce = errors.New("another withdrawal has the nonce")
	// ErrVoid says that the withdrawal was ended, so that nothing more is signed for it.
	ErrVoid = errors.New("the withdrawal was ended")
	// ErrUnrecorded says that the record is shorter than the asker believes.
	ErrUnrecorded = errors.New("the signer's record has no such entry")
)

// Expect is the expectation from the journal: the exact effects of the bytes.
type Expect struct {
	Network bourse.NetworkID
	Kind    bourse.SignedKind
	// ID is that of the withdrawal, or of the order to cold storage; zero for sweeps and top-ups.
	ID bourse.WalletID
	// Attempt numbers a withdrawal's transactions from zero. A further attempt requires
	// that earlier ones can never be mined, or were never broadcast. An order to cold storage has one.
	Attempt uint32
	Coin    chain.CoinID
	// Amount is the amount that arrives; never zero.
	Amount bourse.Amount
	To     chain.Destination
	// With are further withdrawals that the transaction pays, by ascending id above ID, on a network of outputs. Such a
	// joined one is signed if the record of the network has Known entries, and is the next attempt of each; Attempt has
	// no meaning.
	With  []Part
	Known uint64
	// CostCap bounds the cost.
	CostCap bourse.Amount
	// Account is the index of the swept or topped-up deposit address; zero otherwise.
	Account uint32
	// Nonce is the payer's, on networks of accounts.
	Nonce uint64

	// further is true for a further transaction that does not exclude the earlier ones.
	further bool
}

// Signed is a transaction ready for broadcast.
type Signed struct {
	Raw  []byte
	Hash chain.Hash
	// Record is the number of its entry in the record of its network, from one, and Chain
	// the hash of that record up to it.
	Record uint64
	Chain  chain.Hash
	// Shares are the withdrawals of a joined transaction, by ascending id; nil for others.
	Shares []Share
}

// Recorded is an entry of the record.
type Recorded struct {
	Signed
	Kind bourse.SignedKind
	// ID is as in [Expect].
	ID bourse.WalletID
}

// MaxRecorded bounds the entries of one answer.
const MaxRecorded = 100

// Signer signs payments of the journal. Safe for concurrent use.
type Signer interface {
	// Sign checks an unsigned transaction against the expectation and signs it. For a
	// withdrawal and attempt that it signed before, it returns the earlier transaction,
	// which makes the same payment but may have other inputs, another nonce and a higher
	// cost, and may be a joined one. With ErrMismatch, ErrAnother, ErrLimit, ErrRival, ErrNonce, ErrVoid and ErrEpoch
	// nothing was signed, and only ErrSpent, ErrUnapproved and ErrNonce may pass later. A [PartError] of a joined
	// transaction names the withdrawal without which it may pass. Any other error leaves
	// open whether a signature was made: After tells.
	Sign(ctx context.Context, u chain.Unsigned, e Expect) (Signed, error)
	// After returns the entries of a network's record above a number, oldest first and at
	// most MaxRecorded, and the hash of the record up to that number. The error is
	// ErrUnrecorded if the record has fewer.
	After(ctx context.Context, network bourse.NetworkID, record uint64) (chain.Hash, []Recorded, error)
	// Void ends a withdrawal: once it returns, no transaction is signed for it that After
	// does not tell. It is idempotent.
	Void(ctx context.Context, network bourse.NetworkID, id bourse.WalletID) error
}

// Network is the signer's view of one network.
type Network struct {
	Account

	// Codec is the signer's own, made from its own keys.
	Codec chain.Codec
	Keys  chain.Keyring
	// MaxCost bounds the cost of one transaction, and the amount of one top-up,
	// regardless of the journal. Zero allows no cost at all.
	MaxCost bourse.Amount
	// HourCost bounds the costs of an hour, summed over all kinds of transactions, of which
	// sweeps and top-ups may take half. Zero allows no cost at all.
	HourCost bourse.Amount
	// Limit returns the limit of a coin.
	Limit func(chain.CoinID) Limit
	// Allowed are the allow-listed destinations, in the codec's canonical form, each once.
	Allowed []chain.Destination
}

// Local is a signer in this process. It implements [Signer].
type Local struct {
	networks map[bourse.NetworkID]Network
	// numbers are the networks by name.
	numbers   map[bourse.Symbol]bourse.NetworkID
	approvers Approvers
	clock     func() bourse.Time
	disk      disk.Disk

	mu   sync.Mutex
	pins Pins
	// raising is the epoch of the process that holds the signer itself.
	raising Epoch
	log     *log
	broken  error
	// records are the lines of each network's transactions, oldest first.
	records map[bourse.NetworkID][]line
	// done has the attempts of each withdrawal.
	done map[withdrawal]*attempts
	// holders are the withdrawals that have a nonce, on networks of accounts.
	holders map[slot]bourse.WalletID
	// spent are the transactions of the last day, oldest first, without their bytes.
	spent []entry
	// approvals are those that came in, and waiting the payments that want some, by their ids.
	approvals []Approval
	waiting   []waiting
}

// line is the place of an entry, and the hash of its network's record up to it.
type line struct {
	place
	chain chain.Hash
}

// Options configure a signer.
type Options struct {
	Networks map[bourse.NetworkID]Network
	Clock    func() bourse.Time
	// New pins a record that is not pinned yet to Exchange, for an exchange that holds the
	// signer itself. Otherwise [Create] has pinned it, and Exchange has no meaning.
	New       bool
	Exchange  Exchange
	Approvers Approvers
}

// Open opens the signer with the record in a directory.
func Open(d disk.Disk, o Options) (*Local, error) {
	s := &Local{
		networks: o.Networks, numbers: map[bourse.Symbol]bourse.NetworkID{}, approvers: o.Approvers, clock: o.Clock, disk: d,
		records: map[bourse.NetworkID][]line{}, done: map[withdrawal]*attempts{},
		holders: map[slot]bourse.WalletID{},
	}
	if err := o.Approvers.check(); err != nil {
		return nil, err
	}

	var err error
	if s.pins, err = openPins(d, &o); err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	if err := s.number(); err != nil {
		return nil, err
	}

	if s.log, err = openLog(d, s.remember); err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	if err := s.seeAllowed(); err != nil {
		return nil, errors.Join(err, s.log.file.Close())
	}
	return s, nil
}

// number indexes the networks by name. Each is on a chain that fits the exchange, and on one of its own:
// two on the same chain would have twice its limits, and each nonce twice.
func (s *Local) number() error {
	chains := map[string]bourse.Symbol{}
	for id, n := range s.networks {
		if isReal := !IsTestChain(n.Chain); s.pins.Sandbox == isReal && (isReal || isEmbedded(n.Chain)) {
			return fmt.Errorf("signer: %s on the chain %s: %w", n.Name, n.Chain, errWorth(isReal))
		}
		if other, taken := chains[n.Chain]; taken {
			return fmt.Errorf("signer: %s and %s are on the same chain %s", min(n.Name, other), max(n.Name, other), n.Chain)
		}
		chains[n.Chain] = n.Name
		s.numbers[n.Name] = id
	}
	return nil
}

// errWorth tells why an exchange and a chain do not fit.
func errWorth(isReal bool) error {
	if isReal {
		return ErrRealChain
	}
	return errors.New("an embedded network is for sandboxes alone")
}

// Close releases the record.
func (s *Local) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = errors.New("the signer is closed")
	return s.log.file.Close()
}

// sign checks an unsigned transaction against the expectation and signs it, or returns
// the transaction that it signed before.
func (s *Local) sign(ctx context.Context, u chain.Unsigned, e Expect, epoch *Epoch) (Signed, error) {
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
	if err := s.enter(epoch); err != nil {
		return Signed{}, err
	}

	if !e.Kind.HasID() {
		return s.make(&n, &e, e.parts(), u.Raw, cost)
	}
	if len(e.With) > 0 {
		return s.signJoined(&n, &e, u.Raw, cost)
	}
	before := s.done[withdrawal{e.Network, e.ID}]
	switch made := before.count(); {
	case e.Attempt < made:
		return s.repeat(&n, &e, before.records[e.Attempt])
	case e.Attempt > made:
		return Signed{}, fmt.Errorf("%w: attempt %d without the one before it", ErrMismatch, e.Attempt)
	case before != nil && before.void:
		return Signed{}, ErrVoid
	}
	if err := s.excludes(&n, &e, &look{raw: u.Raw}, before); err != nil {
		return Signed{}, err
	}
	return s.make(&n, &e, e.parts(), u.Raw, cost)
}

// make signs a transaction within the limits, and records it before the signature leaves. Its parts are the
// withdrawals, or the expectation itself.
func (s *Local) make(n *Network, e *Expect, parts []Expect, raw []byte, cost bourse.Amount) (Signed, error) {
	now := int64(s.clock())
	if err := s.checkNonce(n, e); err != nil {
		return Signed{}, err
	}
	if err := s.checkLimits(n, e, parts, cost, now); err != nil {
		return Signed{}, err
	}
	for i := range parts {
		if err := s.checkFree(n, &parts[i], now); err != nil {
			return Signed{}, e.blame(&parts[i], err)
		}
	}

	signed, err := n.sign(raw, e)
	if err != nil {
		return Signed{}, err
	}
	made := entry{
		purpose: purpose{e.Network, e.ID, parts[0].Attempt}, Hash: digest(signed.Hash), Coin: e.Coin,
		Amount: e.Amount.Format(0), Cost: cost.Format(0), Time: now, Raw: signed.Raw, Further: e.further, Payer: n.payerOf(e),
	}
	switch {
	case e.Kind != bourse.SignedWithdrawal:
		made.Kind = e.Kind
	case len(parts) > 1:
		s.join(n, parts, &made)
	default:
		made.Purpose = s.purpose(n, e)
	}
	if err := s.append(&made); err != nil {
		return Signed{}, err
	}
	if e.Kind == bourse.SignedWithdrawal {
		for i := range parts {
			s.used(s.payment(n, &parts[i]))
		}
	}
	all := s.records[e.Network]
	signed.Record, signed.Chain, signed.Shares = uint64(len(all)), all[len(all)-1].chain, made.shares()
	return signed, nil
}

// append makes an entry durable.
func (s *Local) append(made *entry) error {
	if err := s.raise(); err != nil {
		return err
	}
	text, at, err := s.log.append(made)
	switch {
	case disk.IsFull(err):
		return err // a full disk: nothing has left, and the caller may retry
	case err != nil:
		s.broken = fmt.Errorf("signer: %w", err)
		return s.broken
	}
	s.remember(*made, text, at)
	return nil
}

// remember indexes an entry; its bytes stay in the record.
func (s *Local) remember(e entry, text []byte, at place) {
	all := s.records[e.Network]
	for _, id := range e.ids() {
		of := withdrawal{e.Network, id}
		if s.done[of] == nil {
			s.done[of] = &attempts{}
		}
		if e.Void {
			s.done[of].void = true
			return
		}
		s.done[of].records = append(s.done[of].records, uint64(len(all)+1))
	}

	var last chain.Hash
	if len(all) > 0 {
		last = all[len(all)-1].chain
	}
	s.records[e.Network] = append(all, line{at, sha256.Sum256(slices.Concat(last[:], text))})
	s.hold(&e)
	e.Raw = nil
	s.spent = append(s.spent, e)
}
