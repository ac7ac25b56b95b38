package chain

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MaxInputs bounds the outputs that one payment spends, so that its size stays far below
// the limit of any network.
const MaxInputs = 100

// MaxChange bounds the outputs of change of one payment. One payment can spend all of them.
const MaxChange = MaxInputs

// SplitChange returns the amounts of the outputs of change: as many as Payment.Change says, if the rest of the inputs
// behind the amount covers their cost and each has at least worth and LeastChange; else fewer. A single one needs worth
// alone; there is none if it has less.
func (p *Payment) SplitChange(rest, worth bourse.Amount, cost func(outputs int) bourse.Amount) []bourse.Amount {
	for n := min(max(p.Change, 1), MaxChange); n > 0; n-- {
		paid := cost(n)
		change, enough := rest.Sub(paid)
		if !enough || n > 1 && p.CostCap.Less(paid) {
			continue
		}
		first, each := Split(change, n)
		if first.IsZero() || first.Less(worth) || n > 1 && (each.IsZero() || each.Less(worth) || each.Less(p.LeastChange)) {
			continue
		}
		return append([]bourse.Amount{first}, slices.Repeat([]bourse.Amount{each}, n-1)...)
	}
	return nil
}

// Split divides change into a number of outputs: the first has half of it, so that a large payment takes few inputs,
// and each of the others the same. With one output each is zero.
func Split(change bourse.Amount, outputs int) (first, each bourse.Amount) {
	if outputs <= 1 {
		return change, each
	}
	half, _ := change.Div64(2)
	each, _ = half.Div64(uint64(outputs - 1))
	others, _ := each.Mul(uint64(outputs - 1)) // at most half
	return change.Minus(others), each
}

// Need is the amount that the inputs of a payment must cover.
type Need struct {
	Coin, Native CoinID
	Amount       bourse.Amount
	Fees         Fees
}

// Select picks the outputs of a coin that a payment spends: the largest first, to keep it
// cheap, until they cover the amount and, for the native coin, the cost. It returns the
// cost of the payment at these fees; false if the outputs do not suffice. The order of
// unspent does not matter.
func Select(unspent []Input, coin, native CoinID, amount bourse.Amount, fees Fees) ([]Input, bourse.Amount, bool) {
	return SelectBeside(nil, unspent, &Need{coin, native, amount, fees})
}

// SelectBeside picks as Select does, for a payment that spends the outputs first in any case. They are of
// the coin and not among unspent.
func SelectBeside(first, unspent []Input, want *Need) ([]Input, bourse.Amount, bool) {
	more := slices.Clone(unspent)
	more = slices.DeleteFunc(more, func(in Input) bool { return in.Coin != want.Coin })
	slices.SortFunc(more, LargestFirst)
	first = slices.SortedFunc(slices.Values(first), LargestFirst)
	own := slices.Concat(first, more)

	var sum bourse.Amount
	for n := 1; n <= min(len(own), MaxInputs); n++ {
		sum = sum.Plus(own[n-1].Amount)
		if n < len(first) {
			continue
		}
		cost := want.Fees.Of(n)
		need, fits := want.Amount, true
		if want.Coin == want.Native {
			need, fits = want.Amount.Add(cost)
		}
		if fits && !sum.Less(need) {
			return own[:n], cost, true
		}
	}
	return nil, bourse.Amount{}, false
}

// LargestFirst orders inputs by amount, the largest first, and equal ones by their outputs.
func LargestFirst(a, b Input) int {
	return cmp.Or(b.Amount.Cmp(a.Amount), a.Tx.Compare(b.Tx), cmp.Compare(a.Index, b.Index))
}
