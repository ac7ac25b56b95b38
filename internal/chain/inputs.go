package chain

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MaxInputs bounds the outputs that one payment spends, so that its size stays far below
// the limit of any network.
const MaxInputs = 100

// Need is what the inputs of a payment must cover.
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
	slices.SortFunc(more, largestFirst)
	first = slices.SortedFunc(slices.Values(first), largestFirst)
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

func largestFirst(a, b Input) int {
	return cmp.Or(b.Amount.Cmp(a.Amount), a.Tx.Compare(b.Tx), cmp.Compare(a.Index, b.Index))
}
