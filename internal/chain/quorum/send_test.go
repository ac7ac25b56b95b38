package quorum_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
)

// pay returns a signed payment of the exchange with its first outputs, or its first nonce.
func (h *hub) pay(units uint64) []byte {
	h.Helper()
	q := h.network(deep)
	u, err := h.clients[0].Prepare(h.Context(), h.payment(q, units))
	h.must(err)
	raw, _, err := devnet.NewKeys(h.params, seed).Sign(u.Raw)
	h.must(err)
	return raw
}

// payment returns a payment of the exchange.
func (h *hub) payment(q *quorum.Network, units uint64) *chain.Payment {
	h.Helper()
	coin := h.params.Shape.Coins[0].ID
	to, err := h.main.NewAddress()
	h.must(err)
	p := &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: coin, Amount: bourse.Units(units), To: chain.Destination{Address: to},
		CostCap: bourse.Units(1e18),
	}
	if !h.params.Shape.Outputs {
		return p
	}
	b, err := h.clients[0].Block(h.Context(), 1)
	h.must(err)
	tx := &b.Txs[0]
	hot := q.Destination(chain.IndexHot).Address
	for _, c := range tx.Credits {
		if c.Address == hot && len(p.Inputs) == 0 {
			p.Inputs = append(p.Inputs, chain.Input{
				Outpoint: chain.Outpoint{Tx: tx.Hash, Index: c.Index}, Owner: chain.IndexHot, Coin: coin, Amount: c.Amount,
			})
		}
	}
	return p
}

// verdict broadcasts a payment.
func (h *hub) verdict(q *quorum.Network, raw []byte, want chain.VerdictKind, is error) {
	h.Helper()
	v, err := q.Broadcast(h.Context(), raw)
	if v.Kind != want || !errors.Is(err, is) || is == nil && err != nil {
		h.Errorf("the verdict is %v, %v; want %d, %v", v, err, want, is)
	}
}

// status asks for a payment's state.
func (h *hub) status(q *quorum.Network, raw []byte, want chain.TxStatus) {
	h.Helper()
	s, err := q.State(h.Context(), raw)
	if err != nil || s.Status != want {
		h.Errorf("the state is %v, %v; want %d", s, err, want)
	}
}

// TestBroadcast offers a payment to nodes of which some have other chains, where its outputs are spent.
func TestBroadcast(t *testing.T) {
	h := open(t, devnet.Lookup("BTC"), 1)
	raw, rival := h.pay(1e8), h.pay(2e8)
	h.fork() // node 2, with the same chain and the same waiting payment
	bad, worse := h.fork(), h.fork()
	for _, n := range []int{3, 4} {
		_, err := h.clients[n-1].Broadcast(t.Context(), rival)
		h.must(err)
	}
	h.mine(bad, 1)
	h.mine(worse, 1)

	three := h.only(1, 2, 3)
	h.verdict(three, raw, chain.Accepted, nil)
	for i, c := range h.clients[:2] { // it was offered to every node
		if s, err := c.State(t.Context(), raw); err != nil || s.Status != chain.TxWaiting {
			t.Errorf("node %d: %v, %v", i+1, s, err)
		}
	}
	h.verdict(three, raw, chain.Known, nil)
	h.verdict(h.only(1, 3, 4), raw, chain.Known, nil) // one node has it

	h.nodes[0].Stop()
	h.verdict(h.only(1, 3, 4), raw, chain.Rejected, nil)
	h.nodes[3].Stop()
	h.verdict(h.only(1, 3, 4), raw, chain.Unknown, chain.ErrSilent) // one refusal is not enough
	h.nodes[2].Stop()
	h.verdict(three, raw, chain.Known, nil)
	h.nodes[1].Stop()
	h.verdict(three, raw, chain.Unknown, chain.ErrSilent)
}

// only returns the quorum of some of the nodes.
func (h *hub) only(numbers ...int) *quorum.Network {
	h.Helper()
	var clients []quorum.Client
	for _, n := range numbers {
		clients = append(clients, h.clients[n-1])
	}
	q, err := quorum.New(quorum.Options{Nodes: clients, Depth: deep, Timeout: time.Minute})
	h.must(err)
	return q
}

// TestState follows a payment that not every node has.
func TestState(t *testing.T) {
	h := open(t, devnet.Lookup("BTC"), 1)
	raw := h.pay(1e8)
	other := h.fork()
	h.fork()
	three, two := h.only(1, 2, 3), h.only(1, 3)
	h.status(three, raw, chain.TxAbsent)

	_, err := h.clients[0].Broadcast(t.Context(), raw)
	h.must(err)
	h.status(three, raw, chain.TxAbsent) // two of three
	h.status(two, raw, chain.TxWaiting)  // one of two has it
	h.nodes[0].Stop()
	h.status(three, raw, chain.TxAbsent)
	h.nodes[2].Stop()
	if s, err := three.State(t.Context(), raw); !errors.Is(err, chain.ErrSilent) {
		t.Errorf("one node's word that it is absent counts: %v, %v", s, err)
	}
	h.nodes[0].Start()
	h.nodes[2].Start()

	_, err = h.clients[1].Broadcast(t.Context(), raw)
	h.must(err)
	h.status(three, raw, chain.TxWaiting)
	h.mine(h.main, 1)
	h.status(three, raw, chain.TxWaiting) // mined by one node alone
	h.mine(other, 1)
	h.status(three, raw, chain.TxWaiting) // in another block
	h.add(h.main)
	h.mine(h.main, 2)
	h.status(h.only(1, 2, 4), raw, chain.TxMined)
	s, err := h.only(1, 3, 4).State(t.Context(), raw)
	if want := uint64(3); err != nil || s.Confirms != want || s.Block.Height != 2 {
		t.Errorf("mined: %v, %v", s, err)
	}
}

// TestCosts takes the median of fees, and the nonce that enough nodes reach.
func TestCosts(t *testing.T) {
	h := open(t, devnet.Lookup("ETH"), 3)
	h.lie(1, liar{fees: 5, nonce: 900})
	h.lie(2, liar{fees: 1, nonce: 7})
	h.lie(3, liar{fees: 90, nonce: 8})
	for _, c := range []struct {
		nodes                []int
		cost, input, reaches uint64
	}{
		{[]int{1, 2, 3}, 5, 95, 8}, {[]int{2, 3}, 90, 99, 7}, {[]int{3, 2, 1}, 5, 95, 8},
	} {
		q := h.only(c.nodes...)
		f, err := q.Fees(t.Context(), "ETH")
		if err != nil || f.Cost != bourse.Units(c.cost) || f.PerInput != bourse.Units(c.input) {
			t.Errorf("nodes %v: fees %v, %v", c.nodes, f, err)
		}
		if n, err := q.Nonce(t.Context(), chain.IndexHot); err != nil || n != c.reaches {
			t.Errorf("nodes %v: nonce %d, %v", c.nodes, n, err)
		}
	}
	h.nodes[0].Stop()
	h.nodes[1].Stop()
	if _, err := h.network(deep).Fees(t.Context(), "ETH"); !errors.Is(err, chain.ErrSilent) {
		t.Errorf("fees of one node: %v", err)
	}
}

// TestPrepare makes a payment that some nodes refuse.
func TestPrepare(t *testing.T) {
	refuses := errors.New("the receiver's contract refuses the payment")
	for name, c := range map[string]struct {
		second, third error
		want          error
		says          string
	}{
		"all":                  {nil, nil, nil, ""},
		"two":                  {refuses, nil, nil, ""},
		"one":                  {chain.ErrFunds, chain.ErrFunds, chain.ErrFunds, ""},
		"one, and two reasons": {chain.ErrFunds, refuses, nil, "do not agree"},
		"one, and one silent":  {refuses, chain.ErrSilent, nil, "do not agree"},
		"one, and two silent":  {chain.ErrSilent, chain.ErrOdd, chain.ErrSilent, "2 of 3 nodes must agree"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, devnet.Lookup("ETH"), 3)
			h.lie(2, liar{err: c.second})
			h.lie(3, liar{err: c.third})
			q := h.network(deep)
			u, err := q.Prepare(t.Context(), h.payment(q, 1e8))
			switch {
			case c.want == nil && c.says == "":
				if err != nil || len(u.Raw) == 0 {
					t.Errorf("got %v", err)
				}
			case !errors.Is(err, c.want) && c.want != nil, err == nil, !strings.Contains(err.Error(), c.says):
				t.Errorf("got %v", err)
			case !errors.Is(c.want, chain.ErrSilent) && (errors.Is(err, chain.ErrSilent) || errors.Is(err, chain.ErrOdd)):
				t.Errorf("a payment that one contract refuses stops the network: %v", err)
			}
		})
	}
}

// TestTooDear has nodes that refuse the cost of a payment, and of a replacement: their pools of waiting payments
// differ, and their estimates. They stand above the others, and the network operates.
func TestTooDear(t *testing.T) {
	refuses := errors.New("the payment is not possible")
	for name, c := range map[string]struct {
		nodes []error
		agree int
		want  error
		says  string
	}{
		"two, and one is dear":              {[]error{nil, chain.ErrCost}, 2, chain.ErrCost, ""},
		"three, one dear and one silent":    {[]error{nil, chain.ErrCost, chain.ErrSilent}, 2, chain.ErrCost, ""},
		"three, and one is dear":            {[]error{nil, chain.ErrCost, nil}, 2, nil, ""},
		"all of three, and one is dear":     {[]error{chain.ErrCost, nil, nil}, 3, nil, ""},
		"four, one dear and one silent":     {[]error{chain.ErrCost, nil, nil, chain.ErrSilent}, 3, nil, ""},
		"four, two dear and one silent":     {[]error{chain.ErrCost, nil, chain.ErrCost, chain.ErrOdd}, 3, chain.ErrCost, ""},
		"two, and one refuses":              {[]error{refuses, nil}, 2, nil, "do not agree"},
		"three, one refuses and one silent": {[]error{refuses, nil, chain.ErrSilent}, 2, nil, "do not agree"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, devnet.Lookup("ETH"), len(c.nodes))
			for i, err := range c.nodes {
				h.lie(i+1, liar{err: err})
			}
			q, err := quorum.New(quorum.Options{Nodes: h.clients, Agree: c.agree, Depth: deep, Timeout: time.Minute})
			h.must(err)

			_, made := q.Prepare(t.Context(), h.payment(q, 1e8))
			_, outbid := q.Outbid(t.Context(), "ETH", nil)
			for _, err := range []error{made, outbid} {
				if c.says == "" && !errors.Is(err, c.want) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("got %v", err)
				}
				if errors.Is(err, chain.ErrSilent) || errors.Is(err, chain.ErrOdd) {
					t.Errorf("one payment stops the network: %v", err)
				}
			}
		})
	}
}

// TestFrozenNode has a node that takes requests and never answers: the others are not held up. Its client would wait
// longer than any test.
func TestFrozenNode(t *testing.T) {
	h := open(t, devnet.Lookup("BTC"), 2)
	frozen := devnet.NewFaults(h.main)
	h.clients = append(h.clients, devnet.NewClient(h.params, devnet.NewKeys(h.params, seed).Public(), frozen,
		devnet.ClientOptions{Timeout: 24 * time.Hour, Clock: h.options.Clock}))
	q := h.network(deep)
	raw := h.pay(1e8)

	frozen.Hold(func(context.Context) error { return errors.New("connection reset") })
	h.is(q, true, h.main.Head())
	frozen.Hold(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 3 {
		head := h.mine(h.main, 1)
		if got, err := q.Health(ctx); err != nil || !got.Operating || got.Head != head {
			t.Fatalf("health is %v, %v", got, err)
		}
		if _, err := q.Block(ctx, head.Height); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Fees(ctx, "BTC"); err != nil {
			t.Fatal(err)
		}
		if v, err := q.Broadcast(ctx, raw); err != nil || v.Kind != chain.Accepted && v.Kind != chain.Known {
			t.Fatalf("the verdict is %v, %v", v, err)
		}
	}
}

// TestAgree takes more than half of the nodes.
func TestAgree(t *testing.T) {
	for nodes, majority := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3} {
		if quorum.Majority(nodes) != majority {
			t.Errorf("of %d nodes %d agree", nodes, quorum.Majority(nodes))
		}
		for agree := -1; agree <= nodes+1; agree++ {
			err := quorum.CheckAgree(agree, nodes)
			if good := agree == 0 || agree >= majority && agree <= nodes; good != (err == nil) {
				t.Errorf("%d of %d: %v", agree, nodes, err)
			}
		}
	}
	h := open(t, devnet.Lookup("BTC"), 3)
	if _, err := quorum.New(quorum.Options{Nodes: h.clients, Agree: 1}); err == nil {
		t.Error("one of three is enough")
	}
	if _, err := quorum.New(quorum.Options{}); err == nil {
		t.Error("a network without nodes")
	}

	q, err := quorum.New(quorum.Options{Nodes: h.clients, Agree: 3})
	h.must(err)
	h.is(q, true, h.main.Head())
	h.nodes[1].Stop()
	h.is(q, false, chain.BlockRef{}, "3 of 3 nodes must agree", "node 2")
}
