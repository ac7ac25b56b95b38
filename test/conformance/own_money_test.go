package conformance

import (
	"strings"
	"testing"
)

var ownMoneyChecks = []check{balanceMessages, balancesAreKept, transferMessages}

func TestOwnMoney(t *testing.T) { examine(t, ownMoneyChecks) }

func balanceMessages(x *exam) {
	x.covers("SPOT-MYB-1")
	m := x.market()
	a := x.account("100 USDT")
	s := x.connect()
	s.auth(a)
	s.sub("myBalances")
	id := a.buy(m, "10.5", "1.5")
	a.cancel(id)
	got := s.fence()
	x.golden(first(got), "stream_myBalances")
	x.same("available", (&value{items: got}).column("avbl"), "84.25", "100")
	x.same("locked", (&value{items: got}).column("locked"), "15.75", "0")
	x.same("total", (&value{items: got}).column("total"), "100", "100")
}

func balancesAreKept(x *exam) {
	x.covers("SPOT-MYB-2", "SPOT-STR-13")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.auth(a)
	s.sub("myBalances")
	a.sell(m, "10", "3")
	b.buy(m, "10", "1")
	b.buy(m, "10", "1.5")
	a.place(m.limit("BUY", "9", "1").with("time_in_force", "IOC"))
	a.buy(m, "9", "1")
	x.trade(m, a, a, "10", "0.5")
	last := map[string]*value{}
	var seq int64
	for _, message := range s.fence() {
		last[message.get("asset").text] = message
		if at := seconds(message.get("seq").text); seq != 0 && at != seq+1 {
			x.Errorf("myBalances goes from %d to %d", seq, at)
		} else {
			seq = at
		}
	}
	for _, asset := range []string{m.base, "USDT"} {
		told, row := last[asset], a.balance(asset)
		if told == nil {
			x.Fatalf("no message of %s", asset)
		}
		for _, name := range []string{"total", "locked", "avbl"} {
			x.equal(name+" of "+asset, told.get(name).text, row.get(name).text)
		}
	}
}

func transferMessages(x *exam) {
	x.covers("SPOT-MYT-1")
	c := x.chain("BTC")
	a := x.account()
	a.address(c)
	s := x.connect()
	s.auth(a)
	s.sub("myTransfers")
	txid := c.gives(a, "0.25")
	c.mine(1)
	a.shows("txid", txid, "status", "PENDING")
	got := s.fence()
	x.same("statuses", (&value{items: got}).column("status"), "PENDING")
	x.equal("row", row(first(got)), a.row("txid", txid).String())
	c.mine(c.confirms)
	a.shows("txid", txid, "status", "DONE")
	got = s.fence()
	x.same("statuses", (&value{items: got}).column("status"), "DONE")
	x.equal("row", row(first(got)), a.row("txid", txid).String())
}

// row returns a message without the fields that streams add to a row.
func row(message *value) string {
	w := *message
	w.members = nil
	for _, m := range message.members {
		if !strings.Contains(" class stream seq ", " "+m.name+" ") {
			w.members = append(w.members, m)
		}
	}
	return w.String()
}
