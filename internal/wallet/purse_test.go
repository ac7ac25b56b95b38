package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestPurse compares what a network holds with the chain: what pays, what is not swept, and what nobody
// knows of.
func TestPurse(t *testing.T) {
	l := listed(onETH, eth)
	w := newWorld(t, onETH, onBTC)
	n := w.network(onETH)
	scaled := func(units bourse.Amount, l *listing) bourse.Amount {
		amount, _ := units.Mul(l.unit)
		return amount
	}

	before := n.worker.Purse(t.Context())
	if got := before.Hot[eth]; got != scaled(w.has(n, chain.IndexHot, l), l) || got.IsZero() {
		t.Errorf("the hot wallet has %s", got.Format(0))
	}
	if s, known := before.Surplus[eth]; !known || !s.IsZero() {
		t.Errorf("surplus %+v", before.Surplus)
	}

	w.pay(l, 1, 50*l.least)
	w.mine(onETH, 1)
	if got := n.worker.Purse(t.Context()).Rest[eth]; got != scaled(bourse.Units(50*l.least), l) {
		t.Errorf("%s are not swept", got.Format(0))
	}

	hidden := chain.Pay{To: n.client.Destination(chain.IndexHot), Coin: l.coin(), Amount: bourse.Units(7)}
	if _, err := n.node.SendHidden(hidden); err != nil {
		t.Fatal(err)
	}
	w.mine(onETH, 5)
	after := n.worker.Purse(t.Context())
	if got := after.Surplus[eth]; got != scaled(bourse.Units(7), l) {
		t.Errorf("surplus %s", got.Format(0))
	}
	if rest := after.Rest[eth]; !rest.Less(scaled(bourse.Units(50*l.least), l)) {
		t.Errorf("%s are not swept", rest.Format(0))
	}

	// A block that the exchange has not read: the node's word would be of another moment.
	if _, err := n.node.Mine(1); err != nil {
		t.Fatal(err)
	}
	if got := n.worker.Purse(t.Context()); got.Surplus != nil {
		t.Errorf("surplus %+v at another block", got.Surplus)
	}

	outputs := w.network(onBTC)
	b := listed(onBTC, btc)
	if got := outputs.worker.Purse(t.Context()); got.Hot[btc] != scaled(w.has(outputs, chain.IndexHot, b), b) || got.Surplus != nil {
		t.Errorf("%+v", got)
	}
}
