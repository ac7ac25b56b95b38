package enginetest

import (
	"math/big"

	"github.com/bourse-exchange/bourse"
)

// most is the largest amount, 2^128-1.
var most = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))

// whole returns n as a big integer.
func whole(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// times returns the product of its factors.
func times(factors ...uint64) *big.Int {
	product := big.NewInt(1)
	for _, f := range factors {
		product.Mul(product, whole(f))
	}
	return product
}

// fromAmount returns a as a big integer.
func fromAmount(a bourse.Amount) *big.Int {
	n := whole(a.Hi)
	return n.Lsh(n, 64).Or(n, whole(a.Lo))
}

// toAmount returns n as an amount. n must fit.
func toAmount(n *big.Int) bourse.Amount {
	if n.Sign() < 0 || n.Cmp(most) > 0 {
		bourse.Impossible("the oracle has an amount of %s", n)
	}
	low := new(big.Int).And(n, whole(^uint64(0)))
	return bourse.Amount{Hi: new(big.Int).Rsh(n, 64).Uint64(), Lo: low.Uint64()}
}

// feeOn returns the share rate of n, rounded up.
func feeOn(rate bourse.Rate, n *big.Int) *big.Int {
	fee := new(big.Int).Mul(n, whole(uint64(rate)))
	fee.Add(fee, whole(bourse.RateOne-1))
	return fee.Quo(fee, whole(bourse.RateOne))
}

// holding names one customer's balance of one asset.
type holding struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

// purse is a balance.
type purse struct{ available, held big.Int }

// purse returns a customer's balance, and creates it if missing.
func (x *Oracle) purse(account bourse.AccountID, asset bourse.AssetID) *purse {
	key := holding{account, asset}
	if x.purses[key] == nil {
		x.purses[key] = new(purse)
	}
	return x.purses[key]
}

// Balance returns a customer's balance of an asset.
func (x *Oracle) Balance(account bourse.AccountID, asset bourse.AssetID) bourse.Balance {
	b := bourse.Balance{Account: account, Asset: asset}
	if p := x.purses[holding{account, asset}]; p != nil {
		b.Available, b.Held = toAmount(&p.available), toAmount(&p.held)
	}
	return b
}

// hold reserves n for an order. It returns false if less is available.
func (x *Oracle) hold(o *order, n *big.Int) bool {
	p := x.purse(o.Account, o.holds)
	if p.available.Cmp(n) < 0 {
		return false
	}
	p.available.Sub(&p.available, n)
	p.held.Add(&p.held, n)
	o.held.Set(n)
	return true
}

// release returns the order's hold beyond keep.
func (x *Oracle) release(o *order, keep *big.Int) {
	p := x.purse(o.Account, o.holds)
	back := new(big.Int).Sub(&o.held, keep)
	if back.Sign() < 0 {
		bourse.Impossible("the oracle's order %d holds too little", o.ID)
	}
	p.held.Sub(&p.held, back)
	p.available.Add(&p.available, back)
	o.held.Set(keep)
}

// pay moves n, less the fee, from the order's hold to a customer.
func (x *Oracle) pay(from *order, to bourse.AccountID, n, fee *big.Int) {
	p := x.purse(from.Account, from.holds)
	p.held.Sub(&p.held, n)
	from.held.Sub(&from.held, n)
	if from.held.Sign() < 0 || p.held.Sign() < 0 {
		bourse.Impossible("the oracle's order %d pays more than it holds", from.ID)
	}
	q := x.purse(to, from.holds)
	q.available.Add(&q.available, n).Sub(&q.available, fee)
	x.fees[from.holds].Add(x.fees[from.holds], fee)
}
