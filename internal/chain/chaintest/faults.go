package chaintest

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// question is a query to a node.
type question struct {
	name string
	ask  func(ctx context.Context) (any, error)
}

// questions returns every query that a network has; raw is pending at the node.
func (d *desk) questions(raw []byte) []question {
	coin := d.shape().Coins[0]
	hot := d.Network.Destination(chain.IndexHot).Address
	p := d.payment(coin, amount(coin))
	return []question{
		{"Health", func(ctx context.Context) (any, error) { return d.Network.Health(ctx) }},
		{"Block", func(ctx context.Context) (any, error) { return d.Network.Block(ctx, 1) }},
		{"Fees", func(ctx context.Context) (any, error) { return d.Network.Fees(ctx, coin.ID) }},
		{"Prepare", func(ctx context.Context) (any, error) { return d.Network.Prepare(ctx, p) }},
		{"Broadcast", func(ctx context.Context) (any, error) { return d.Network.Broadcast(ctx, raw) }},
		{"State", func(ctx context.Context) (any, error) { return d.Network.State(ctx, raw) }},
		{"Balance", func(ctx context.Context) (any, error) { return d.Network.Balance(ctx, hot, coin.ID) }},
		{"Nonce", func(ctx context.Context) (any, error) { return d.Network.Nonce(ctx, chain.IndexHot) }},
	}
}

// waiting returns a payment that is pending at the node.
func (d *desk) waiting() []byte {
	d.Helper()
	coin := d.shape().Coins[0]
	raw, _ := d.sign(d.payment(coin, amount(coin)))
	d.broadcast(raw, chain.Accepted)
	return raw
}

// local reports whether a query needs no node on this network.
func (d *desk) local(name string) bool { return name == "Nonce" && d.shape().Outputs }

// testSilent checks that every query to a node that accepts connections and never answers
// ends by itself.
func testSilent(d *desk) {
	questions := d.questions(d.waiting())
	d.Stop()
	for _, q := range questions {
		if d.local(q.name) {
			continue
		}
		answer, err := q.ask(d.Context())
		d.wants(q.name, err, chain.ErrSilent)
		if h, ok := answer.(chain.Health); ok && (h.Operating || h.Reason == "") {
			d.Errorf("a silent node's health is %v", h)
		}
	}

	ended, cancel := context.WithCancel(d.Context())
	cancel()
	_, err := d.Network.Health(ended)
	d.wants("a context that has ended", err, chain.ErrSilent)

	d.Start()
	for _, q := range questions {
		if _, err := q.ask(d.Context()); err != nil {
			d.Errorf("%s after the silence: %v", q.name, err)
		}
	}
}

// testOdd corrupts answers in every way: each query must fail as the contract says or
// return the true answer.
func testOdd(d *desk) {
	raw := d.waiting()
	questions := d.questions(raw)

	var truth []any
	for _, q := range questions {
		answer, err := q.ask(d.Context())
		d.must(err)
		truth = append(truth, answer)
	}

	for _, name := range slices.Sorted(maps.Keys(d.Spoil)) {
		for i, q := range questions {
			d.Spoil[name]()
			answer, err := q.ask(d.Context())
			d.Mend()
			switch {
			case err == nil && !reflect.DeepEqual(answer, truth[i]):
				d.Errorf("%s, %s: believes %v", name, q.name, answer)
			case err != nil && !errors.Is(err, chain.ErrOdd) && !errors.Is(err, chain.ErrSilent):
				d.Errorf("%s, %s: got %v", name, q.name, err)
			}
			if h, ok := answer.(chain.Health); ok && err != nil && h.Operating {
				d.Errorf("%s: operating, and %v", name, err)
			}
		}
	}

	d.mine(1)
	d.state(raw, chain.TxMined)
}

// testBehind checks a node that is some blocks behind: it is not operating if it reports
// that, and its past is consistent in any case.
func testBehind(d *desk) {
	raw := d.waiting()
	d.mine(3)

	head := d.head()
	for _, silent := range []bool{false, true} {
		d.Lag(3, silent)
		h, err := d.Network.Health(d.Context())
		if err != nil || h.Operating != silent || h.Head.Height != head.Height-3 {
			d.Errorf("silent %t: health is %v, %v", silent, h, err)
		}
		_, err = d.Network.Block(d.Context(), head.Height)
		d.wants("above its head", err, chain.ErrNoBlock)
		d.state(raw, chain.TxWaiting)
		d.closeBooks()
	}

	d.Lag(0, false)
	if d.head() != head {
		d.Error("the head is another one than before")
	}
	d.state(raw, chain.TxMined)
}
