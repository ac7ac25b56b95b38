package signer

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var (
	// ErrUnapproved is the [ErrLimit] of a payment that may go to strangers with approvals
	// alone. It may pass later.
	ErrUnapproved = fmt.Errorf("%w without approvals", ErrLimit)
	// ErrApproval says that an approval is not one of this signer's approvers, not for this
	// exchange, or out of time.
	ErrApproval = errors.New("the approval is not valid here")
)

// The domain words, which keep a signature for one purpose from being one for another.
const (
	paymentDomain  = "bourse signer: payment, version 1\n"
	adoptionDomain = "bourse signer: adoption, version 1\n"
	purposeDomain  = "bourse signer: purpose, version 1\n"
)

// Bounds in memory.
const (
	// maxApprovals bounds the approvals of each approver, so that none takes up another's.
	maxApprovals = 1000
	// maxApproval bounds the bytes that an approval's signature covers.
	maxApproval = 4 << 10
	// maxWaiting bounds the payments that are listed for approvers.
	maxWaiting = 100
	// waitsFor is the time after which a payment leaves the list if it is not asked for again.
	waitsFor = bourse.Hour
	// maxValid is the longest life of an approval.
	maxValid = 7 * bourse.Day
)

// Approvers approve what goes beyond a signer's own rules: Need of them, each with a key.
// Without keys nothing can be approved.
type Approvers struct {
	Need int
	Keys []ed25519.PublicKey
}

// waiting is a payment that was refused for want of approvals.
type waiting struct {
	Payment
	// asked is when it was refused last, in microseconds since 1970.
	asked int64
}

// Payment is a withdrawal's transaction as an approver sees it, and all that its signature
// covers.
type Payment struct {
	Exchange    ExchangeID         `json:"exchange"`
	Sandbox     bool               `json:"sandbox"`
	Incarnation bourse.Incarnation `json:"incarnation"`
	Network     bourse.Symbol      `json:"network"`
	Chain       string             `json:"chain"`
	// Coin is the contract, or the symbol of a coin without one.
	Coin     chain.CoinID    `json:"coin"`
	Decimals uint8           `json:"decimals"`
	ID       bourse.WalletID `json:"id"`
	Attempt  uint32          `json:"attempt"`
	// Amount is in whole coins.
	Amount  string `json:"amount"`
	Address string `json:"address"`
	Memo    string `json:"memo,omitempty"`
	// Expires is in seconds since 1970; zero in what waits for approvals.
	Expires int64 `json:"expires,omitzero"`
}

// Approval is an approver's signature of a payment.
type Approval struct {
	Payment

	Key       digest    `json:"key"`
	Signature signature `json:"signature"`
}

// Adoption is an approver's signature of an epoch.
type Adoption struct {
	Exchange    ExchangeID         `json:"exchange"`
	Sandbox     bool               `json:"sandbox"`
	Incarnation bourse.Incarnation `json:"incarnation"`
	Term        uint64             `json:"term"`
	Expires     int64              `json:"expires"`
	Key         digest             `json:"key"`
	Signature   signature          `json:"signature"`
}

// signature is an ed25519 signature in hex.
type signature [ed25519.SignatureSize]byte

// MarshalText writes lower-case hex digits.
func (s signature) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads exactly as many hex digits as a signature has.
func (s *signature) UnmarshalText(b []byte) error { return unhex(s[:], b, "a signature") }

// message builds the bytes of a signature or a digest: each text has its length before it.
type message []byte

func (m *message) text(s string) {
	m.number(uint64(len(s)))
	*m = append(*m, s...)
}

func (m *message) number(n uint64) { *m = binary.BigEndian.AppendUint64(*m, n) }

func (m *message) exchange(id ExchangeID, sandbox bool) {
	*m = append(*m, id[:]...)
	if sandbox {
		m.number(1)
	} else {
		m.number(0)
	}
}

// message returns the bytes that an approver signs.
func (p *Payment) message(domain string) []byte {
	m := message(domain)
	m.exchange(p.Exchange, p.Sandbox)
	m.number(uint64(p.Incarnation))
	m.text(string(p.Network))
	m.text(p.Chain)
	m.text(string(p.Coin))
	m.number(uint64(p.Decimals))
	m.number(uint64(p.ID))
	m.number(uint64(p.Attempt))
	m.text(p.Amount)
	m.text(p.Address)
	m.text(p.Memo)
	m.number(uint64(p.Expires))
	return m
}

// Approve signs a payment until a time, which the payment then has.
func Approve(p Payment, key ed25519.PrivateKey, until bourse.Time) Approval {
	p.Expires = int64(until / bourse.Second)
	a := Approval{Payment: p, Key: digest(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])}
	copy(a.Signature[:], ed25519.Sign(key, p.message(paymentDomain)))
	return a
}

// message returns the bytes that an approver signs.
func (a *Adoption) message() []byte {
	m := message(adoptionDomain)
	m.exchange(a.Exchange, a.Sandbox)
	m.number(uint64(a.Incarnation))
	m.number(a.Term)
	m.number(uint64(a.Expires))
	return m
}

// ApproveEpoch signs an epoch of an exchange until a time.
func ApproveEpoch(x Exchange, e Epoch, key ed25519.PrivateKey, until bourse.Time) Adoption {
	a := Adoption{
		Exchange: x.ID, Sandbox: x.Sandbox, Incarnation: e.Incarnation, Term: e.Term,
		Expires: int64(until / bourse.Second), Key: digest(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]),
	}
	copy(a.Signature[:], ed25519.Sign(key, a.message()))
	return a
}

// signed reports whether an approver signed a message.
func (s *Local) signed(key digest, message []byte, by signature) bool {
	known := func(k ed25519.PublicKey) bool { return bytes.Equal(k, key[:]) }
	return slices.ContainsFunc(s.approvers.Keys, known) && ed25519.Verify(key[:], message, by[:])
}

// Approve takes in an approval. It counts until it expires or this process ends, for the one
// attempt that it names.
func (s *Local) Approve(a *Approval) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, covered := s.clock(), a.message(paymentDomain)
	switch {
	case len(covered) > maxApproval:
		return fmt.Errorf("%w: it is too long", ErrApproval)
	case !s.signed(a.Key, covered, a.Signature):
		return fmt.Errorf("%w: it is not signed by one of its approvers", ErrApproval)
	case a.Exchange != s.pins.Exchange, a.Sandbox != s.pins.Sandbox, a.Incarnation != s.pins.Incarnation:
		return fmt.Errorf("%w: it is for another exchange or incarnation", ErrApproval)
	case a.Expires <= int64(now/bourse.Second), a.Expires > int64((now+maxValid)/bourse.Second):
		return fmt.Errorf("%w: it is valid neither now nor for at most seven days", ErrApproval)
	}

	s.approvals = slices.DeleteFunc(s.approvals, func(old Approval) bool {
		return old.Expires <= int64(now/bourse.Second) || old.Key == a.Key && same(old.Payment, a.Payment)
	})
	own := 0
	for i := range s.approvals {
		if s.approvals[i].Key == a.Key {
			own++
		}
	}
	if own >= maxApprovals {
		return fmt.Errorf("%w: %d others of its approver are in force", ErrApproval, own)
	}
	s.approvals = append(s.approvals, *a)
	return nil
}

// same reports whether two payments differ at most in when their approval expires.
func same(a, b Payment) bool {
	a.Expires, b.Expires = 0, 0
	return a == b
}

// Waiting lists the payments that were refused for want of approvals, in the order of their ids.
func (s *Local) Waiting() []Payment {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Payment, len(s.waiting))
	for i := range s.waiting {
		list[i] = s.waiting[i].Payment
	}
	return list
}

// payment returns what approvers see of an expectation.
func (s *Local) payment(n *Network, e *Expect) Payment {
	coin, _ := n.Codec.Shape().Coin(e.Coin) // checked with the bytes
	return Payment{
		Exchange: s.pins.Exchange, Sandbox: s.pins.Sandbox, Incarnation: s.pins.Incarnation,
		Network: n.Name, Chain: n.Chain, Coin: e.Coin, Decimals: coin.Decimals, ID: e.ID, Attempt: e.Attempt,
		Amount: e.Amount.Format(coin.Decimals), Address: e.To.Address, Memo: e.To.Memo,
	}
}

// purpose returns the hash of a withdrawal's payment.
func (s *Local) purpose(n *Network, e *Expect) digest {
	p := s.payment(n, e)
	p.Attempt = 0
	return sha256.Sum256(p.message(purposeDomain))
}

// approved reports whether enough approvers have approved a payment.
func (s *Local) approved(p Payment, now int64) bool {
	by := map[digest]bool{}
	for i := range s.approvals {
		a := &s.approvals[i]
		if same(a.Payment, p) && a.Expires > now/int64(bourse.Second) {
			by[a.Key] = true
		}
	}
	return len(by) > 0 && len(by) >= s.approvers.Need
}

// wait lists a payment for approvers. Of too many, those with the lowest ids stay: a crowd of later
// withdrawals displaces no earlier one.
func (s *Local) wait(p Payment, now int64) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool {
		return p.sameAttempt(w.Payment) || w.asked <= now-int64(waitsFor)
	})
	s.waiting = append(s.waiting, waiting{p, now})
	slices.SortStableFunc(s.waiting, func(a, b waiting) int { return cmp.Compare(a.ID, b.ID) })
	s.waiting = s.waiting[:min(len(s.waiting), maxWaiting)]
}

// used takes a payment off the list, and its approvals: the record has its attempt, or its end.
func (s *Local) used(p Payment) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool { return p.sameAttempt(w.Payment) })
	s.approvals = slices.DeleteFunc(s.approvals, func(a Approval) bool { return p.sameAttempt(a.Payment) })
}

// sameAttempt reports whether two payments are of one attempt of a withdrawal.
func (p Payment) sameAttempt(other Payment) bool {
	return p.Network == other.Network && p.ID == other.ID && p.Attempt == other.Attempt
}

// checkAdoption checks the approvals of an epoch.
func (s *Local) checkAdoption(to Epoch, approvals []Adoption) error {
	by := map[digest]bool{}
	for i := range approvals {
		a := &approvals[i]
		switch {
		case !s.signed(a.Key, a.message(), a.Signature):
			return fmt.Errorf("%w: it is not signed by one of its approvers", ErrApproval)
		case a.Exchange != s.pins.Exchange, a.Sandbox != s.pins.Sandbox, (Epoch{a.Incarnation, a.Term}) != to:
			return fmt.Errorf("%w: it is for another exchange or epoch", ErrApproval)
		case a.Expires <= int64(s.clock()/bourse.Second):
			return fmt.Errorf("%w: it has expired", ErrApproval)
		}
		by[a.Key] = true
	}
	if len(by) < s.approvers.Need {
		return fmt.Errorf("%w: %d of %d approvers", ErrAdopt, len(by), s.approvers.Need)
	}
	return nil
}

// check refuses approvers of whom none or too many are needed.
func (a *Approvers) check() error {
	known := map[string]bool{}
	for _, k := range a.Keys {
		known[string(k)] = len(k) == ed25519.PublicKeySize
	}
	switch {
	case len(a.Keys) == 0 && a.Need == 0:
		return nil
	case len(known) != len(a.Keys) || slices.Contains(slices.Collect(maps.Values(known)), false):
		return errors.New("approvers: a key is there twice, or is none")
	case a.Need < 1 || a.Need > len(a.Keys):
		return fmt.Errorf("approvers: %d of %d", a.Need, len(a.Keys))
	}
	return nil
}

// sortedNames returns the names of networks in a fixed order.
func sortedNames(numbers map[bourse.Symbol]bourse.NetworkID) []bourse.Symbol {
	return slices.Sorted(maps.Keys(numbers))
}
