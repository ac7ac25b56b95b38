package bourse_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

var twoTo128 = new(big.Int).Lsh(big.NewInt(1), 128)

func toBig(a bourse.Amount) *big.Int {
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(a.Lo))
}

// word draws 64 bits with the edges of words made likely.
func word() *rapid.Generator[uint64] {
	return rapid.OneOf(
		rapid.Uint64(),
		rapid.SampledFrom([]uint64{0, 1, 2, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0) - 1, ^uint64(0)}),
	)
}

func amount() *rapid.Generator[bourse.Amount] {
	return rapid.Custom(func(t *rapid.T) bourse.Amount {
		return bourse.Amount{Hi: word().Draw(t, "hi"), Lo: word().Draw(t, "lo")}
	})
}

// same fails unless got, with its word on whether it fits, is what big integers
// say.
func same(t *rapid.T, what string, got bourse.Amount, fits bool, want *big.Int) {
	t.Helper()
	if wantFits := want.Sign() >= 0 && want.Cmp(twoTo128) < 0; fits != wantFits {
		t.Fatalf("%s: fits %v, want %v", what, fits, wantFits)
	}
	if fits && toBig(got).Cmp(want) != 0 {
		t.Fatalf("%s = %v, want %v", what, toBig(got), want)
	}
}

func TestAmountArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := amount().Draw(t, "a"), amount().Draw(t, "b"), word().Draw(t, "n")
		x, y, z := toBig(a), toBig(b), new(big.Int).SetUint64(n)

		sum, ok := a.Add(b)
		same(t, "a+b", sum, ok, new(big.Int).Add(x, y))
		diff, ok := a.Sub(b)
		same(t, "a-b", diff, ok, new(big.Int).Sub(x, y))
		product, ok := a.Mul(n)
		same(t, "a*n", product, ok, new(big.Int).Mul(x, z))
		if got, want := a.Cmp(b), x.Cmp(y); got != want {
			t.Fatalf("cmp = %d, want %d", got, want)
		}
		if !b.IsZero() {
			q, r := a.Div(b)
			wantQ, wantR := new(big.Int).DivMod(x, y, new(big.Int))
			same(t, "a/b", q, true, wantQ)
			same(t, "a%b", r, true, wantR)
		}
	})
}

func TestPlusOrMaxStopsAtTheMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := amount().Draw(t, "a"), amount().Draw(t, "b")
		want := new(big.Int).Add(toBig(a), toBig(b))
		if most := toBig(bourse.MaxAmount); want.Cmp(most) > 0 {
			want = most
		}
		same(t, "a+b or the most", a.PlusOrMax(b), true, want)
	})
}

func TestMulDiv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := amount().Draw(t, "a"), amount().Draw(t, "b"), max(1, word().Draw(t, "n"))
		got, fits := a.MulDiv(b, n)
		want := new(big.Int).Mul(toBig(a), toBig(b))
		same(t, "a*b/n", got, fits, want.Quo(want, new(big.Int).SetUint64(n)))
	})
}

func TestFeeRoundsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amount().Draw(t, "a")
		rate := bourse.Rate(rapid.Uint32Range(0, bourse.RateOne-1).Draw(t, "rate"))
		want := new(big.Int).Mul(toBig(a), big.NewInt(int64(rate)))
		want.Add(want, big.NewInt(bourse.RateOne-1))
		want.Div(want, big.NewInt(bourse.RateOne))
		fee := rate.FeeOn(a)
		same(t, "fee", fee, true, want)
		if a.Less(fee) {
			t.Fatalf("fee %v exceeds %v", toBig(fee), toBig(a))
		}
	})
}

func TestPlusAndMinusStopTheProcess(t *testing.T) {
	for name, f := range map[string]func(){
		"overflow":   func() { bourse.MaxAmount.Plus(bourse.Units(1)) },
		"below zero": func() { bourse.Units(1).Minus(bourse.Units(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(bourse.InvariantError); !ok {
					t.Error("no invariant was reported")
				}
			}()
			f()
		})
	}
}
