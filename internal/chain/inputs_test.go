package chain_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestSelect holds the choice against what it must be: enough, no input too
// many, of the right coin, the same for every order; and none only if all of
// them together do not suffice.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unspent := rapid.SliceOfN(rapid.Custom(drawInput), 0, 20).Draw(t, "unspent")
		for i := range unspent {
			unspent[i].Index = uint32(i)
		}
		amount := bourse.Units(rapid.Uint64Range(1, 300).Draw(t, "amount"))
		fees := chain.Fees{Cost: bourse.Units(5), PerInput: bourse.Units(2)}
		native := rapid.SampledFrom([]chain.CoinID{"A", "B"}).Draw(t, "native")
		chosen, cost, ok := chain.Select(unspent, "A", native, amount, fees)
		if !ok {
			if covers(t, of(unspent, "A"), native, amount, fees) {
				t.Fatal("chose nothing where everything suffices")
			}
			return
		}
		if want := fees.Cost.Lo + fees.PerInput.Lo*uint64(len(chosen)-1); cost.Lo != want {
			t.Fatalf("costs %d, not %d", cost.Lo, want)
		}
		if !covers(t, chosen, native, amount, fees) || covers(t, chosen[:len(chosen)-1], native, amount, fees) {
			t.Fatalf("chose %v for %d", chosen, amount.Lo)
		}
		again, _, _ := chain.Select(rapid.Permutation(unspent).Draw(t, "order"), "A", native, amount, fees)
		for i := range chosen {
			if chosen[i] != again[i] || chosen[i].Coin != "A" {
				t.Fatalf("chose %v, then %v", chosen, again)
			}
		}
	})
}

func drawInput(t *rapid.T) chain.Input {
	return chain.Input{
		Coin:   rapid.SampledFrom([]chain.CoinID{"A", "B"}).Draw(t, "coin"),
		Amount: bourse.Units(rapid.Uint64Range(3, 50).Draw(t, "amount")),
	}
}

func of(all []chain.Input, coin chain.CoinID) (some []chain.Input) {
	for _, in := range all {
		if in.Coin == coin {
			some = append(some, in)
		}
	}
	return some
}

func covers(t *rapid.T, inputs []chain.Input, native chain.CoinID, amount bourse.Amount, fees chain.Fees) bool {
	t.Helper()
	if len(inputs) == 0 {
		return false
	}
	sum, need := uint64(0), amount.Lo
	for _, in := range inputs {
		sum += in.Amount.Lo
	}
	if native == "A" {
		need += fees.Cost.Lo + fees.PerInput.Lo*uint64(len(inputs)-1)
	}
	return sum >= need
}

func TestSelectTooMuch(t *testing.T) {
	fees := chain.Fees{Cost: bourse.Units(1)}
	unspent := []chain.Input{{Coin: "A", Amount: bourse.MaxAmount}}
	if _, _, ok := chain.Select(unspent, "A", "A", bourse.MaxAmount, fees); ok {
		t.Error("paid for what there cannot be")
	}
}

// TestSelectBeside holds that the outputs of the first list are spent in any case, that others are
// added only if they do not suffice, and that the order of either list does not matter.
func TestSelectBeside(t *testing.T) {
	in := func(index uint32, amount uint64) chain.Input {
		return chain.Input{Outpoint: chain.Outpoint{Index: index}, Coin: "A", Amount: bourse.Units(amount)}
	}
	first, more := []chain.Input{in(1, 10), in(2, 20)}, []chain.Input{in(3, 1000), in(4, 30), {Coin: "B"}}
	back := []chain.Input{in(2, 20), in(1, 10)}
	for _, c := range []struct{ amount, cost, inputs uint64 }{
		{5, 7, 2},     // one would do
		{23, 7, 2},    // to the unit
		{24, 9, 3},    // the largest of the others
		{1022, 11, 4}, // all of them
		{1050, 0, 0},
	} {
		want := chain.Need{
			Coin: "A", Native: "A", Amount: bourse.Units(c.amount),
			Fees: chain.Fees{Cost: bourse.Units(5), PerInput: bourse.Units(2)},
		}
		chosen, cost, ok := chain.SelectBeside(first, more, &want)
		if ok != (c.inputs > 0) || uint64(len(chosen)) != c.inputs || cost.Lo != c.cost {
			t.Errorf("for %d: %v at %d", c.amount, chosen, cost.Lo)
		}
		if again, _, _ := chain.SelectBeside(back, more, &want); !slices.Equal(chosen, again) {
			t.Errorf("for %d: %v, then %v", c.amount, chosen, again)
		}
	}
}

// TestDisplaced counts those that exclude each other once, with the dearest, and others beside each other.
func TestDisplaced(t *testing.T) {
	of := func(cost uint64, inputs ...uint32) (r chain.Replaced) {
		for _, index := range inputs {
			r.Inputs = append(r.Inputs, chain.Input{Outpoint: chain.Outpoint{Index: index}})
		}
		r.Cost = bourse.Units(cost)
		return r
	}
	for _, c := range []struct {
		list []chain.Replaced
		want uint64
	}{
		{nil, 0},
		{[]chain.Replaced{of(5, 1), of(7, 1, 2), of(6, 3, 1)}, 7},
		{[]chain.Replaced{of(5, 1), of(7, 2)}, 12},
		{[]chain.Replaced{of(5, 1), of(9, 1, 2), of(7, 2)}, 16}, // the first and the last are possible together
	} {
		if got := chain.Displaced(c.list); got != bourse.Units(c.want) {
			t.Errorf("%v: %s", c.list, got.Format(0))
		}
	}
}

// TestSplitChange holds split change against every other number of outputs: nothing is lost, each output is large enough, and
// more of them would be too small or too dear.
func TestSplitChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, most uint64) uint64 { return rapid.Uint64Range(0, most).Draw(t, name) }
		rest, worth, least := draw("rest", 1000), draw("worth", 50), draw("least", 100)
		base, each, most := draw("base", 20), draw("each", 20), draw("most", 200)
		p := chain.Payment{
			Change:      rapid.IntRange(0, 2*chain.MaxChange).Draw(t, "change"),
			LeastChange: bourse.Units(least), CostCap: bourse.Units(most),
		}
		cost := func(n int) uint64 { return base + each*uint64(n) }
		list := p.SplitChange(bourse.Units(rest), bourse.Units(worth), func(n int) bourse.Amount { return bourse.Units(cost(n)) })

		sum := uint64(0)
		for i, part := range list {
			sum += part.Lo
			if part.IsZero() || i > 1 && part != list[1] {
				t.Fatalf("parts of %v", list)
			}
		}
		if n := uint64(len(list)); n > 0 && sum+cost(len(list)) != rest || n > 1 && (2*list[0].Lo < sum || 2*list[0].Lo > sum+2*n) {
			t.Fatalf("%v of %d at a cost of %d", list, rest, cost(len(list)))
		}
		for n := 1; n <= min(max(p.Change, 1), chain.MaxChange); n++ {
			fits := rest > cost(n) && rest-cost(n) >= worth
			if n > 1 {
				fits = fits && (rest-cost(n))/2/uint64(n-1) >= max(worth, least, 1) && cost(n) <= most
			}
			if n > len(list) && fits || n == len(list) && !fits {
				t.Fatalf("%d outputs, and %d fit: %t", len(list), n, fits)
			}
		}
	})
}
