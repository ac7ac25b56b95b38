package chaintest

import (
	"slices"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// replacement signs a payment that replaces others, and checks its cost.
func (d *desk) replacement(p *chain.Payment, others ...[]byte) []byte {
	d.Helper()
	again := *p
	again.Replaces = others
	u := d.prepare(&again)
	d.checkDecoded(&again, u.Raw, u.Cost, false)

	fees, err := d.Network.Outbid(d.Context(), p.Coin, others)
	d.must(err)
	most := fees.Of(len(p.Inputs) + 1)
	if most.Less(u.Cost) {
		d.Errorf("it costs %s, and %s was the most", u.Cost.Format(0), most.Format(0))
	}
	for _, raw := range others {
		if old, err := d.Network.Decode(raw); err != nil || !old.Cost.Less(u.Cost) {
			d.Errorf("it costs %s, and the one before %s, %v", u.Cost.Format(0), old.Cost.Format(0), err)
		}
	}
	raw, _, err := d.Keys.Sign(u.Raw)
	d.must(err)
	return raw
}

// testReplaced replaces a waiting payment twice. The last one is mined, and the receiver is paid once.
func testReplaced(d *desk) {
	for _, coin := range d.some() {
		p := d.payment(coin, amount(coin))
		first, _ := d.sign(p)
		d.broadcast(first, chain.Accepted)
		second := d.replacement(p, first)
		d.broadcast(second, chain.Accepted)
		third := d.replacement(p, first, second)
		d.broadcast(third, chain.Accepted)

		d.state(third, chain.TxWaiting)
		d.state(first, chain.TxAbsent)
		d.broadcast(first, chain.Rejected)
		d.broadcast(second, chain.Rejected)

		d.mine(1)
		d.state(third, chain.TxMined)
		d.state(first, chain.TxConflicted)
		d.state(second, chain.TxConflicted)
		if got := d.balance(p.To.Address, coin.ID); got != p.Amount {
			d.Errorf("%s of %s arrived", got.Format(0), coin.ID)
		}
	}
}

// testReplacedWithMore replaces a payment by one that spends an output more.
func testReplacedWithMore(d *desk) {
	coin := d.shape().Coins[0]
	p := d.payment(coin, amount(coin))
	first, _ := d.sign(p)
	d.broadcast(first, chain.Accepted)
	for _, in := range d.read().unspent {
		if in.Coin == coin.ID && !slices.Contains(p.Inputs, in) {
			p.Inputs = append(p.Inputs, in)
			break
		}
	}
	if len(p.Inputs) < 2 {
		d.Fatal("there is one output alone")
	}

	second := d.replacement(p, first)
	d.broadcast(second, chain.Accepted)
	d.mine(1)
	d.state(second, chain.TxMined)
	d.state(first, chain.TxConflicted)
}

// testNotReplaced asks for a cost that the network takes for nothing, or that is above the payment's cap.
func testNotReplaced(d *desk) {
	coin := d.shape().Coins[0]
	fees, err := d.Network.Fees(d.Context(), coin.ID)
	d.must(err)
	same, err := d.Network.Outbid(d.Context(), coin.ID, nil)
	d.must(err)
	if same != fees {
		d.Errorf("instead of nothing it costs %v, not %v", same, fees)
	}
	if _, err := d.Network.Outbid(d.Context(), "no such coin", nil); err == nil {
		d.Error("a cost of an unknown coin")
	}

	p := d.payment(coin, amount(coin))
	raw, _ := d.sign(p)
	p.Replaces = [][]byte{raw[:len(raw)-1]}
	if _, err := d.Network.Prepare(d.Context(), p); d.shape().Replaces == (err == nil) {
		d.Errorf("instead of damaged bytes: %v", err)
	}
	if !d.shape().Replaces {
		return
	}
	p.Replaces = [][]byte{raw}
	old, err := d.Network.Decode(raw)
	d.must(err)
	p.CostCap = old.Cost
	_, err = d.Network.Prepare(d.Context(), p)
	d.wants("at the cost of the one before", err, chain.ErrCost)
}
