package chaintest

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// testJoined makes one transaction with ten payments and outbids it, where the network replaces payments. Each arrives
// once, and the cost is what the fees say.
func testJoined(d *desk) {
	coin, _ := d.shape().Coin(d.shape().Native)
	const count = 10
	each, _ := amount(coin).Div64(count)
	p := d.payment(coin, each)
	for range count - 1 {
		to, err := d.Outside.NewAddress()
		d.must(err)
		p.With = append(p.With, chain.Pay{To: chain.Destination{Address: to}, Coin: coin.ID, Amount: each})
	}
	p.Inputs = d.inputs(coin.ID, p.Total())

	fees, err := d.Network.Fees(d.Context(), coin.ID)
	d.must(err)
	p.CostCap = capped(fees, p)
	raw, hash := d.sign(p)
	d.broadcast(raw, chain.Accepted)
	if d.shape().Replaces {
		p.Replaces = [][]byte{raw}
		fees, err = d.Network.Outbid(d.Context(), coin.ID, p.Replaces)
		d.must(err)
		p.CostCap = capped(fees, p)
		raw, hash = d.sign(p)
		d.broadcast(raw, chain.Accepted)
	}

	t, err := d.Network.Decode(raw)
	d.must(err)
	if len(t.Pays) < count || len(t.Pays) > count+1 {
		d.Errorf("it has %d outputs", len(t.Pays))
	}
	if s := d.mine(1); d.tx(s.Height, hash) == nil {
		d.Error("no block has it")
	}
	for _, pay := range append([]chain.Pay{{To: p.To}}, p.With...) {
		if got := d.balance(pay.To.Address, coin.ID); got != each {
			d.Errorf("%s arrived, and not %s", got.Format(0), each.Format(0))
		}
	}
}

// capped returns the most that a payment costs at some fees, with change that is not worth an output.
func capped(fees chain.Fees, p *chain.Payment) bourse.Amount {
	fees = fees.Join(1 + len(p.With))
	return fees.Of(len(p.Inputs)).Plus(fees.PerInput)
}
