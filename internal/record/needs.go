package record

import "github.com/bourse-exchange/bourse"

// earlyActRecord is the longest record of an act, in bytes, that programs take which do not know bourse.CommandWarm.
const earlyActRecord = 4096

// Needs returns the newest kind of record and the newest version of the rules that a reader of a command must know. An
// act needs the same as the command that it orders.
func Needs(c *bourse.Command) (kind bourse.CommandKind, rules uint32) {
	switch {
	case c.Kind == bourse.CommandSetRules:
		return c.Kind, c.Rules
	case c.Genesis != nil:
		return c.Kind, c.Genesis.Rules
	case c.Operators == nil || len(c.Operators.Record) == 0:
		if k := find(c.Kind); k != nil && k.version(c) > 1 {
			rules = secondRules
		}
		return c.Kind, rules
	}

	var ordered bourse.Command
	if _, err := Decode(c.Operators.Record, &ordered); err != nil {
		return c.Kind, 0 // Check has refused it
	}
	kind, rules = Needs(&ordered)
	if len(c.Operators.Record) > earlyActRecord {
		kind = max(kind, bourse.CommandWarm)
	}
	return max(c.Kind, kind), rules
}
