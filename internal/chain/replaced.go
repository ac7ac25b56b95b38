package chain

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Replaced is a transaction that a payment replaces on a network of outputs.
type Replaced struct {
	Inputs []Input
	// Cost includes that of the waiting transactions which spend its outputs.
	Cost bourse.Amount
}

func (r *Replaced) excludes(other *Replaced) bool {
	return slices.ContainsFunc(r.Inputs, func(in Input) bool {
		return slices.ContainsFunc(other.Inputs, func(at Input) bool { return at.Outpoint == in.Outpoint })
	})
}

// Displaced returns the most that the replaced transactions in one node's pool cost together. A pool has at most one
// of those that exclude each other: such a group counts once, with its dearest.
func Displaced(list []Replaced) (sum bourse.Amount) {
	var groups [][]*Replaced
	for i := range list {
		r := &list[i]
		at := slices.IndexFunc(groups, func(group []*Replaced) bool {
			return !slices.ContainsFunc(group, func(other *Replaced) bool { return !r.excludes(other) })
		})
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], r)
	}

	for _, group := range groups {
		var most bourse.Amount
		for _, r := range group {
			if most.Less(r.Cost) {
				most = r.Cost
			}
		}
		sum = sum.PlusOrMax(most)
	}
	return sum
}
