package chain

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MaxInputs bounds the outputs that one payment spends, so that its size stays far below
// the limit of any network.
const MaxInputs = 100

// Select picks the outputs of a coin that a payment spends: the largest first, to keep it
// cheap, until they cover the amount and, for the native coin, the cost. It returns the
// cost of the payment at these fees; false if the outputs do not suffice. The order of
// unspent does not matter.
func Select(unspent []Input, coin, native CoinID, amount bourse.Amount, fees Fees) ([]Input, bourse.Amount, bool) {
	own := slices.Clone(unspent)
	own = slices.DeleteFunc(own, func(in Input) bool { return in.Coin != coin })
	slices.SortFunc(own, largestFirst)

	var sum bourse.Amount
	cost := fees.Cost
	for n := 1; n <= min(len(own), MaxInputs); n++ {
		if n > 1 {
			cost = cost.Plus(fees.PerInput)
		}
		sum = sum.Plus(own[n-1].Amount)
		need, fits := amount, true
		if coin == native {
			need, fits = amount.Add(cost)
		}
		if fits && !sum.Less(need) {
			return own[:n], cost, true
		}
	}
	return nil, bourse.Amount{}, false
}

func largestFirst(a, b Input) int {
	return cmp.Or(b.Amount.Cmp(a.Amount), bytes.Compare(a.Tx[:], b.Tx[:]), cmp.Compare(a.Index, b.Index))
}
