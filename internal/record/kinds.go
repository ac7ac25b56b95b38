package record

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// kind is a row of the table of commands.
type kind struct {
	// name is the kind's word for people, noun the malformed part in Check's error.
	name, noun string
	// urgent marks a kind that reduces risk: it overtakes orders.
	urgent bool
	// free marks an urgent kind that takes effect without money or open orders.
	free bool
	// authority returns a command's authority; nil if no act may order it, and it needs none.
	authority func(*bourse.Command) Authority
	// fields codes the body; nil if it is empty. Bodies of orders and cancels are written
	// by hand.
	fields func(*codec.Codec, *bourse.Command)
	// second reports whether a command needs version 2 of the body; nil if there is only version 1. later codes the body of
	// version 2; nil if its fields are those of version 1.
	second func(*bourse.Command) bool
	later  func(*codec.Codec, *bourse.Command)
	// check reports whether a command is well formed, independent of the state; nil if it
	// always is.
	check func(*bourse.Command) bool
	// details formats the fields for people; nil to leave them out.
	details func(*bourse.Command) string
}

// find returns the row of a kind; nil if it is unknown.
func find(of bourse.CommandKind) *kind {
	if of > bourse.LastCommandKind || kinds[of].name == "" {
		return nil
	}
	return &kinds[of]
}

// secondRules are the rules since which bodies have version 2.
const secondRules = bourse.RulesLongMemos

// newest returns the newest version of a kind's body.
func (k *kind) newest() uint8 {
	if k.second == nil {
		return 1
	}
	return 2
}

// version returns the version of a command's body: the oldest one that has all of its fields, so that programs which do not
// know newer ones read what they can.
func (k *kind) version(c *bourse.Command) uint8 {
	if k.second == nil || !k.second(c) {
		return 1
	}
	return 2
}

// Known reports whether this program has a kind of commands.
func Known(of bourse.CommandKind) bool { return find(of) != nil }

// Check reports whether c is well formed, independent of the exchange's state. The
// journal takes only commands that pass. The error is a *bourse.Error with CodeInvalid.
func Check(c *bourse.Command) error {
	k := find(c.Kind)
	switch {
	case k == nil:
		return bourse.Errorf(bourse.CodeInvalid, "unknown command kind %d", c.Kind)
	case k.check != nil && !k.check(c), !isOrdered(c):
		return bourse.Errorf(bourse.CodeInvalid, "malformed %s", k.noun)
	default:
		return nil
	}
}

// Urgent reports whether commands of a kind reduce risk, and overtake orders.
func Urgent(of bourse.CommandKind) bool {
	k := find(of)
	return k != nil && k.urgent
}

// Free reports whether commands of an urgent kind take effect without money or open
// orders.
func Free(of bourse.CommandKind) bool {
	k := find(of)
	return k != nil && k.free
}
