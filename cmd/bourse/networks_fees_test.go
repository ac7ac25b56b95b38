package main

import (
	"strings"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// dearPlace is a chain of the Bitcoin family on which others outbid the payments of an exchange.
type dearPlace struct {
	*depositor
	*nodetest.Outside
	keeper *keeper
	// most is the setting cap, in units per virtual byte.
	most int64
	// bounded is true if dearer transactions throw payments out of the node's pool. Without a bound they keep them out of
	// blocks alone.
	bounded bool
}

// dearBlocks carries out the drills about fees on a chain of the Bitcoin family, with a floor of 5. Afterwards the ledger
// has what the chain has, and the log says that the cap was reached.
func (w *depositor) dearBlocks(k *keeper, most int64, bounded bool) {
	w.t.Helper()
	d := &dearPlace{depositor: w, Outside: w.outside.(*nodetest.Outside), keeper: k, most: most, bounded: bounded}
	for range 2 { // outputs for as many payments
		w.receive(w.asset, "", w.tenths(3))
	}
	if d.bounded {
		d.evicted()
	}
	d.spike()
	d.agrees()

	w.stop()
	if said := w.log.String(); !strings.Contains(said, "a transaction is overdue and is not outbid") || !strings.Contains(said, "costs more than allowed") {
		w.t.Error("the log does not say that the cap is reached")
	}
}

// evicted fills the node's pool with dearer transactions, which throw a payment out. The exchange bids what the pool
// asks for it, and for the next payment at once. Each is paid once.
func (d *dearPlace) evicted() {
	d.t.Helper()
	_, address := d.ordered("0.05")
	first := d.bid(address)
	must(d.t, d.Crowd(20))
	if len(d.waiting(address)) > 0 {
		d.t.Fatal("the payment is not evicted")
	}
	_, another := d.ordered("0.04")
	if next := d.bid(another); next.Rate < 20 {
		d.t.Errorf("the next payment bids %d", next.Rate)
	}

	d.minedAs(d.empty, "a payment in its place", func() bool { return len(d.waiting(address)) > 0 })
	if second := d.bid(address); second.Name == first.Name || second.Rate < 20 || second.Rate > d.most {
		d.t.Errorf("%+v is in the place of %+v", second, first)
	}
	d.paid(address, "0.05")
	d.paid(another, "0.04")
}

// spike lets the price of payments rise above the cap. The payment is outbid up to the cap and waits there. It is paid
// once the price has fallen.
func (d *dearPlace) spike() {
	d.t.Helper()
	before := d.keeper.recorded()
	_, address := d.ordered("0.05")
	first := d.bid(address)
	if d.bounded {
		must(d.t, d.Crowd(d.most+20))
		if len(d.waiting(address)) > 0 {
			d.t.Fatal("the payment is not evicted")
		}
	}

	// A bounded pool takes no bid up to the cap; on others each bid is a little more than one above the last.
	bids := int64(2)
	if !d.bounded {
		bids = d.most - first.Rate
	}
	d.minedAs(d.empty, "a bid at the cap", func() bool { return d.keeper.recorded() >= before+bids })
	for range 3 {
		head := d.empty()
		d.until("the exchange read the block", func() bool { return d.height() == head.Height })
	}
	if got := d.keeper.recorded() - before; got != bids || (len(d.waiting(address)) > 0) == d.bounded {
		d.t.Errorf("%d bids are signed, want %d; %+v wait", got, bids, d.waiting(address))
	}

	if d.bounded {
		must(d.t, d.Calm())
	}
	d.minedAs(d.empty, "a payment that waits again", func() bool { return len(d.waiting(address)) > 0 })
	if last := d.bid(address); last.Name == first.Name || last.Rate < d.most-1 || last.Rate > d.most {
		d.t.Errorf("%+v is in the place of %+v", last, first)
	}
	d.paid(address, "0.05")
}

// empty adds a block that takes no transaction.
func (d *dearPlace) empty() chain.BlockRef {
	d.t.Helper()
	head, err := d.MineEmpty(1)
	must(d.t, err)
	return head
}

func (d *dearPlace) waiting(address string) []nodetest.Bid {
	d.t.Helper()
	bids, err := d.Waiting(address)
	must(d.t, err)
	return bids
}

// bid waits for the payment to an address at the node.
func (d *dearPlace) bid(address string) (bid nodetest.Bid) {
	d.t.Helper()
	d.until("a payment that waits", func() bool {
		bids := d.waiting(address)
		if len(bids) == 1 {
			bid = bids[0]
		}
		return len(bids) > 0
	})
	return bid
}

// paid mines what pays most until a withdrawal is in a block, and wants it to have arrived once.
func (d *dearPlace) paid(address, amount string) {
	d.t.Helper()
	best := func() chain.BlockRef {
		head, err := d.dearest()
		must(d.t, err)
		return head
	}
	d.minedAs(best, "a withdrawal in a block", func() bool { return len(d.waiting(address)) == 0 })
	d.minedAs(d.empty, "a withdrawal that is done", func() bool {
		for _, row := range d.transfers() {
			if row.Status != "DONE" {
				return false
			}
		}
		return true
	})
	if got := d.arrived(address); got != amount {
		d.t.Errorf("%s arrived", got)
	}
}

// dearest adds a block of what pays most.
func (d *dearPlace) dearest() (chain.BlockRef, error) {
	if d.bounded {
		return d.MineDearest()
	}
	return d.Mine(1)
}

// agrees wants the ledger to have what the chain has on the exchange's addresses.
func (d *dearPlace) agrees() {
	d.t.Helper()
	has, head, err := d.Holdings(d.keeper.keys(d.asset), 1)
	must(d.t, err)
	d.until("the exchange read the last block", func() bool { return d.height() == head.Height })
	books := mustControl[struct {
		Networks []struct {
			Network string
			Owned   map[string]string
		}
	}](d.server, "solvency", map[string]any{})
	for _, n := range books.Networks {
		if want := has[d.node.Params.Coin].Format(d.decimals); n.Network == d.asset && number(n.Owned[d.asset]).Cmp(number(want)) != 0 {
			d.t.Errorf("the ledger has %s, the chain %s", n.Owned[d.asset], want)
		}
	}
}
