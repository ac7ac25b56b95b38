package signer

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// Exchange identifies the exchange that a signer signs for.
type Exchange struct {
	ID      ExchangeID
	Sandbox bool
}

// Epoch orders the processes of one exchange: its incarnation, and the term of its journal.
type Epoch struct {
	Incarnation bourse.Incarnation
	Term        uint64
}

// Compare orders epochs.
func (e Epoch) Compare(other Epoch) int {
	return cmp.Or(cmp.Compare(e.Incarnation, other.Incarnation), cmp.Compare(e.Term, other.Term))
}

// String returns the epoch as INCARNATION.TERM.
func (e Epoch) String() string { return fmt.Sprintf("%d.%d", e.Incarnation, e.Term) }

// maxJump bounds how far a term may rise without an adoption. Each start of an exchange raises
// it by one. A higher jump would lock the exchange out for ever.
const maxJump = 1000

var (
	// ErrExchange says that the asker is not the exchange that the signer signs for.
	ErrExchange = errors.New("the signer signs for another exchange")
	// ErrEpoch says that a newer process of the exchange has asked the signer.
	ErrEpoch = errors.New("the signer knows a newer epoch of the exchange")
	// ErrAdopt says that an epoch needs `bourse-signer adopt`.
	ErrAdopt = errors.New("the epoch must be adopted at the signer")
	// ErrKeys says that the public keys of the asker are not those of the signer.
	ErrKeys = errors.New("the keys are not those of the signer")
	// ErrRealChain says that a sandbox asks for a chain whose coins are worth something.
	ErrRealChain = errors.New("a sandbox signs for test chains alone")
)

// Account is the part of a network that exchange and signer must agree on.
type Account struct {
	// Name is the network's symbol in both catalogue and settings.
	Name bourse.Symbol
	// Chain is the chain's identity.
	Chain string
	// Public is the descriptor of the public keys, whole.
	Public string
	// Cold is the descriptor of cold storage, whole; empty without. A signer may know it before the exchange does.
	Cold string
}

// Hello is the first thing that an exchange tells a signer.
type Hello struct {
	Exchange Exchange
	Epoch    Epoch
	Networks []Account
}

// Session returns the signer for a process of the exchange. Once a session of a higher epoch
// begins, this one signs nothing and tells nothing any more. The epoch is durable before
// Session returns.
func (s *Local) Session(h *Hello) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}

	pins := s.pins
	if pins.Exchange == (ExchangeID{}) && pins.Sandbox {
		pins.Exchange = h.Exchange.ID // a sandbox's signer takes the first one
	}
	if pins.exchange() != h.Exchange {
		return nil, ErrExchange
	}
	for i := range h.Networks {
		if err := s.checkAccount(&h.Networks[i]); err != nil {
			return nil, err
		}
	}

	switch at := pins.epoch(); {
	case h.Epoch.Compare(at) < 0:
		return nil, fmt.Errorf("%w: %s after %s", ErrEpoch, h.Epoch, at)
	case h.Epoch.Incarnation != at.Incarnation, h.Epoch.Term > at.Term+maxJump:
		return nil, fmt.Errorf("%w: %s after %s", ErrAdopt, h.Epoch, at)
	}
	pins.Incarnation, pins.Term = h.Epoch.Incarnation, h.Epoch.Term
	if err := s.pin(&pins); err != nil {
		return nil, err
	}
	return &Session{s, h.Epoch}, nil
}

// checkAccount compares a network's chain and keys with the signer's.
func (s *Local) checkAccount(a *Account) error {
	id, known := s.numbers[a.Name]
	if !known {
		return fmt.Errorf("%w: it has none of %s", ErrKeys, a.Name)
	}
	n := s.networks[id]
	switch {
	case n.Chain != a.Chain:
		return fmt.Errorf("%w: those of %s are of the chain %s and not of %s", ErrKeys, a.Name, n.Chain, a.Chain)
	case n.Public != a.Public:
		return fmt.Errorf("%w: %s has other ones", ErrKeys, a.Name)
	case a.Cold != "" && a.Cold != n.Cold:
		return fmt.Errorf("%w: the cold storage of %s is another one", ErrKeys, a.Name)
	}
	return nil
}

// Adopt makes an epoch the highest one, whatever the jump. With approvers it takes their
// approvals.
func (s *Local) Adopt(to Epoch, approvals []Adoption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pins := s.pins
	if to.Compare(pins.epoch()) < 0 {
		return fmt.Errorf("%w: %s after %s", ErrEpoch, to, pins.epoch())
	}
	if err := s.checkAdoption(to, approvals); err != nil {
		return err
	}
	pins.Incarnation, pins.Term = to.Incarnation, to.Term
	return s.pin(&pins)
}

// Raise makes a higher epoch the highest one, for the process that holds the signer itself. A
// lower one changes nothing. On a full disk the epoch is durable before the next signature instead, so that the
// process starts.
func (s *Local) Raise(to Epoch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raising = to
	err := s.raise()
	if disk.IsFull(err) {
		return nil
	}
	return err
}

// raise makes the epoch durable that Raise was called with. The caller holds mu.
func (s *Local) raise() error {
	pins := s.pins
	if s.raising.Compare(pins.epoch()) <= 0 {
		return nil
	}
	pins.Incarnation, pins.Term = s.raising.Incarnation, s.raising.Term
	return s.pin(&pins)
}

// Number returns a network's number in the record.
func (s *Local) Number(name bourse.Symbol) (bourse.NetworkID, bool) {
	id, known := s.numbers[name]
	return id, known
}

// Accounts returns the networks, in the order of their names.
func (s *Local) Accounts() (list []Account) {
	for _, name := range sortedNames(s.numbers) {
		list = append(list, s.networks[s.numbers[name]].Account)
	}
	return list
}

// Status is a signer's state for its operators.
type Status struct {
	Exchange    ExchangeID         `json:"exchange"`
	Sandbox     bool               `json:"sandbox"`
	Incarnation bourse.Incarnation `json:"incarnation"`
	Term        uint64             `json:"term"`
	Networks    []NetworkStatus    `json:"networks"`
}

// NetworkStatus is a network's part of a [Status].
type NetworkStatus struct {
	Name  bourse.Symbol `json:"name"`
	Chain string        `json:"chain"`
	Keys  string        `json:"keys"`
	// Cold is the descriptor of cold storage.
	Cold string `json:"cold,omitzero"`
	// Signed is the number of entries of its record.
	Signed uint64 `json:"signed"`
}

// Status returns the signer's state.
func (s *Local) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{
		Exchange: s.pins.Exchange, Sandbox: s.pins.Sandbox, Incarnation: s.pins.Incarnation, Term: s.pins.Term,
		Networks: []NetworkStatus{},
	}
	for _, a := range s.Accounts() {
		signed := uint64(len(s.records[s.numbers[a.Name]]))
		status.Networks = append(status.Networks, NetworkStatus{a.Name, a.Chain, a.Public, a.Cold, signed})
	}
	return status
}

// Adopt makes an epoch the highest one of a signer that does not run.
func Adopt(d disk.Disk, o *Options, to Epoch, approvals []Adoption) error {
	pins, err := ReadPins(d)
	if err == nil {
		err = o.Approvers.check()
	}
	if err != nil {
		return err
	}
	s := &Local{pins: pins, approvers: o.Approvers, clock: o.Clock, disk: d}
	return s.Adopt(to, approvals)
}
