package standby

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Protocol is the version of the messages between follower and source.
const Protocol = 1

// Hello describes a node. Both ends of a link compare it before they exchange anything else.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Exchange string `json:"exchange"`
	Sandbox  bool   `json:"sandbox"`
	// Incarnation is the exchange's, as far as the node knows.
	Incarnation bourse.Incarnation `json:"incarnation"`
	// LastKind is the newest kind of command that the node knows, Rules the newest rules.
	LastKind bourse.CommandKind `json:"last_kind"`
	Rules    uint32             `json:"rules"`
	// Standby is true if the node is a standby.
	Standby bool `json:"standby"`
	// Seq is the last durable command, Voids the number of commands out of effect.
	Seq   bourse.Seq `json:"seq"`
	Voids int        `json:"voids"`
	// Remote is true if the accounts are on a server, so that a follower copies none.
	Remote bool `json:"accounts_on_server"`
	// CompareEvery is the interval of the journal's time, in microseconds, at which a source hashes its
	// state. Its followers do at the same.
	CompareEvery bourse.Time `json:"compare_every"`
}

// NewHello returns the Hello of a program for an exchange.
func NewHello(id journal.Identity, version string) Hello {
	return Hello{
		Protocol: Protocol, Version: version, Exchange: hex.EncodeToString(id.Exchange[:]), Sandbox: id.Sandbox,
		LastKind: bourse.LastCommandKind, Rules: bourse.CurrentRules,
	}
}

// The reasons to refuse a node.
var (
	// ErrProtocol means that the other program has a protocol that this one does not speak.
	ErrProtocol = errors.New("the versions do not fit")
	// ErrRaised means that the other node has a higher incarnation: it is the exchange.
	ErrRaised = errors.New("another machine is the exchange")
	// ErrStandby means that the other node is a standby as well.
	ErrStandby = errors.New("it is a standby")
)

// Identity returns the identity of the node's exchange.
func (h *Hello) Identity() (journal.Identity, error) {
	id := journal.Identity{Sandbox: h.Sandbox}
	b, err := hex.DecodeString(h.Exchange)
	if err != nil || len(b) != len(id.Exchange) {
		return id, fmt.Errorf("%w: %q is no exchange's id", ErrProtocol, h.Exchange)
	}
	copy(id.Exchange[:], b)
	return id, nil
}

// Source returns an error unless a copy that says h may follow the node that says source.
func (h *Hello) Source(source *Hello) error {
	id, err := source.Identity()
	if err != nil {
		return err
	}
	own, err := h.Identity()
	if err != nil {
		return err
	}

	switch err := own.Check(id); {
	case source.Protocol != h.Protocol:
		return fmt.Errorf("%w: the source (%s) speaks protocol %d, this program %d", ErrProtocol, source.Version, source.Protocol,
			h.Protocol)
	case err != nil:
		return fmt.Errorf("the source %w", err)
	case source.Standby:
		return fmt.Errorf("the source is no exchange: %w", ErrStandby)
	case source.CompareEvery <= 0:
		return fmt.Errorf("%w: the source compares states every %d µs", ErrProtocol, source.CompareEvery)
	case source.LastKind > h.LastKind || source.Rules > h.Rules:
		return fmt.Errorf("%w: the source (%s) journals what this program does not know; upgrade the standby first", ErrProtocol,
			source.Version)
	case source.Incarnation < h.Incarnation:
		return fmt.Errorf("%w: the copy is of incarnation %d, and the source of %d", ErrRaised, h.Incarnation, source.Incarnation)
	default:
		return nil
	}
}

// Peer returns an error if the node that says peer is the exchange in place of the one that says
// h: both would give their own answers to the same customers.
func (h *Hello) Peer(peer *Hello, serving bool) error {
	if peer.Standby || peer.Exchange != h.Exchange || peer.Sandbox != h.Sandbox {
		return nil
	}
	if peer.Incarnation > h.Incarnation || !serving && peer.Incarnation == h.Incarnation {
		return fmt.Errorf("%w: it is of incarnation %d, this one of %d", ErrRaised, peer.Incarnation, h.Incarnation)
	}
	return nil
}
