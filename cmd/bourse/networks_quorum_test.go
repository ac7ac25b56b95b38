package main

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestRealQuorum is the runbook's loss of a node: of three, one is frozen, then forked for a block, and deposits and
// withdrawals go on. One that has another chain for longer stops the network with its number, until it follows the others.
func TestRealQuorum(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		q := &severalNodes{outside: r.outside.(*nodetest.Outside)}
		var urls []string
		for range 2 {
			n := nodetest.Start(t, nodetest.Knots())
			q.others = append(q.others, n)
			urls = append(urls, fmt.Sprintf("{url: %q, user: %s, password: %s}", n.URL, nodetest.User, nodetest.Password))
		}
		must(t, q.feed(2))
		r.settings = strings.Replace(r.settings, "}]", "}, "+strings.Join(urls, ", ")+"]", 1)
		q.depositor = walk(t, r, nil)
		q.until("the network operates", q.operating)
		q.frozen()
		q.forked()
	})
	t.Run("cosmos", func(t *testing.T) {
		r := atoms(t)
		q := &severalDoors{}
		urls := make([]string, 3)
		for i := range urls {
			q.doors = append(q.doors, nodetest.NewProxy(t, r.node))
			urls[i] = fmt.Sprintf("{url: %q}", q.doors[i].URL)
		}
		r.settings = strings.Replace(r.settings, fmt.Sprintf("{url: %q}", r.node.URL), strings.Join(urls, ", "), 1)
		q.depositor = walk(t, r, nil)
		q.until("the network operates", q.operating)
		q.silent()
		q.behind()
	})
}

// severalDoors is a customer of an exchange with three nodes of a chain whose blocks are final. They are three ways to
// the only validator: its blocks are the same everywhere, and a node can be silent or behind.
type severalDoors struct {
	*depositor
	doors []*nodetest.Proxy
}

// pays makes a payment to the customer, and mines it.
func (q *severalDoors) pays(tenths uint64) {
	q.t.Helper()
	to := wallet[depositAnswer](q.depositor, "/wallet/deposit", map[string]any{}).destination()
	_, err := q.outside.Send(chain.Pay{To: to, Amount: q.tenths(tenths)})
	must(q.t, err)
	q.mine(1)
}

// silent lets the third node answer nothing. A deposit and a withdrawal go on without it.
func (q *severalDoors) silent() {
	q.t.Helper()
	q.doors[2].Stop()
	q.pays(5)
	q.until("a deposit without the third node", func() bool { return q.balance() == "0.5" })
	_, address := q.ordered("0.1")
	q.until("a withdrawal without the third node", func() bool { return q.status() == "DONE" })
	q.mine(1)
	if got := q.arrived(address); got != "0.1" {
		q.t.Errorf("%s arrived", got)
	}
	q.doors[2].Start()
}

// behind hides the last block from one node, and then from two: what they have counts, and the block that one node
// alone has is not read.
func (q *severalDoors) behind() {
	q.t.Helper()
	q.doors[0].Hide(1)
	before := number(q.balance())
	q.pays(1)
	more := func(tenths int64) bool {
		sum := new(big.Rat).Sub(number(q.balance()), before)
		return sum.Cmp(big.NewRat(tenths, 10)) == 0
	}
	q.until("a deposit that one node does not have", func() bool { return more(1) })
	q.doors[1].Hide(1)
	q.pays(2)
	q.mine(1)
	q.until("a deposit in the last block but one", func() bool { return more(3) })
	last, err := q.outside.Mine(1)
	must(q.t, err)
	q.until("the last block but one", func() bool { return q.height() == last.Height-1 })
	q.doors[0].Hide(0)
	q.doors[1].Hide(0)
	q.until("all blocks are read", func() bool { return q.height() == last.Height })
}

// severalNodes is a customer of an exchange with three nodes, of which the outside world mines at the first.
type severalNodes struct {
	*depositor
	outside *nodetest.Outside
	others  []*nodetest.Node
}

// feed gives the first of the other nodes the blocks that they lack.
func (q *severalNodes) feed(nodes int) error {
	for _, n := range q.others[:nodes] {
		if err := q.outside.Feed(n); err != nil {
			return err
		}
	}
	return nil
}

// grow mines a block that so many of the other nodes get.
func (q *severalNodes) grow(nodes int) {
	q.t.Helper()
	q.mine(1)
	must(q.t, q.feed(nodes))
}

// pay makes a pending payment to the customer.
func (q *severalNodes) pay(tenths uint64) {
	q.t.Helper()
	to := wallet[depositAnswer](q.depositor, "/wallet/deposit", map[string]any{}).Address
	_, err := q.outside.Send(chain.Pay{To: chain.Destination{Address: to}, Amount: q.tenths(tenths)})
	must(q.t, err)
}

// frozen halts the third node, which then accepts requests and answers none. The others are enough.
func (q *severalNodes) frozen() {
	q.t.Helper()
	last := q.others[1]
	last.Freeze()
	q.pay(5)
	q.grow(1)
	q.grow(1)
	q.until("a deposit without the third node", func() bool { return q.balance() == "0.5" })
	_, address := q.ordered("0.1")
	q.until("a withdrawal without the third node", func() bool { return q.status() == "DONE" })
	q.grow(1)
	if got := q.arrived(address); got != "0.1" {
		q.t.Errorf("%s arrived", got)
	}

	// The third node counts again: without the second one, the two others are enough.
	last.Thaw()
	must(q.t, q.feed(2))
	q.others[0].Freeze()
	q.pay(1)
	q.mine(1)
	must(q.t, q.outside.Feed(last))
	q.mine(1)
	must(q.t, q.outside.Feed(last))
	q.until("a deposit without the second node", func() bool { return q.status() == "DONE" })
	q.others[0].Thaw()
	must(q.t, q.feed(2))
}

// forked lets the third node have blocks of its own: first one, and then more than money waits for.
func (q *severalNodes) forked() {
	q.t.Helper()
	last := q.others[1]
	must(q.t, q.outside.Part(last, 1))
	q.pay(2)
	q.grow(1)
	q.until("a deposit that waits", func() bool { return q.status() == "PENDING" })
	if !q.operating() {
		q.t.Error("a fork of a block stops the network")
	}
	q.grow(2) // the third node follows the longer chain
	q.until("a deposit that is done", func() bool { return q.status() == "DONE" })

	must(q.t, q.outside.Part(last, 3))
	q.grow(1)
	q.grow(1)
	q.until("the network does not operate", func() bool { return !q.operating() })
	if why := q.reason(); !strings.Contains(why, "node 3 has another chain than the other nodes") {
		q.t.Errorf("the network does not operate because %s", why)
	}
	q.grow(1)
	q.grow(2)
	q.until("the network operates again", q.operating)
}
