package bitcoin

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// outbidding returns a client of a node without estimates, which answers a text about a waiting payment, and a
// payment of two inputs with its signed bytes.
func outbidding(t *testing.T, entry string) (*Client, *chain.Payment, []byte) {
	t.Helper()
	c := asking(t, map[string]string{"estimatesmartfee": `{"result":{},"id":ID}`, "getmempoolentry": entry})
	p := &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "BTC", Amount: bourse.Units(1e6), CostCap: bourse.Units(most),
		To: chain.Destination{Address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
	}
	for index := range uint32(2) {
		p.Inputs = append(p.Inputs, chain.Input{
			Outpoint: chain.Outpoint{Tx: chain.Hash{1}, Index: index}, Owner: 5, Coin: "BTC", Amount: bourse.Units(2e6),
		})
	}
	u, err := c.Prepare(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	signed, _, err := keysOf(t, "mainnet").Sign(u.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return c, p, signed
}

const (
	notWaiting = `{"error":{"code":-5,"message":"Transaction not in mempool"},"id":ID}`
	noMethod   = `{"error":{"code":-32601,"message":"Method not found"},"id":ID}`
)

// TestOutbid pays all that a node throws out for a replacement, and the relay of its own weight (BIP 125, rules 3
// and 4): also where descendants pay much, and where the replacement has fewer inputs.
func TestOutbid(t *testing.T) {
	for _, c := range []struct {
		entry string
		paid  uint64
	}{
		{notWaiting, 0},
		{noMethod, 0},
		{`{"result":{"fees":{"base":0.00000210,"descendant":0.00001000}},"id":ID}`, 1000},
		{`{"result":{"fees":{"descendant":0.0005}},"id":ID}`, 50_000},
	} {
		for _, inputs := range []int{2, 1} {
			client, p, first := outbidding(t, c.entry)
			old, err := client.Decode(first)
			if err != nil {
				t.Fatal(err)
			}
			p.Replaces, p.Inputs = [][]byte{first}, p.Inputs[:inputs]
			u, err := client.Prepare(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			made, err := client.params.open(u.Raw)
			if err != nil {
				t.Fatal(err)
			}
			least := max(old.Cost.Lo, c.paid) + costOf(made.weight(), relayRate).Lo
			if u.Cost.Lo < least || u.Cost.Lo > least+least/3 {
				t.Errorf("%s, %d inputs: a cost of %d, and %d are enough", c.entry, inputs, u.Cost.Lo, least)
			}
		}
	}
}

// TestOutbidCap offers nothing above the cap: descendants of strangers cannot make a payment dearer than that.
func TestOutbidCap(t *testing.T) {
	for entry, want := range map[string]error{
		`{"result":{"fees":{"descendant":0.00090000}},"id":ID}`:     nil,
		`{"result":{"fees":{"descendant":0.01}},"id":ID}`:           chain.ErrCost,
		`{"result":{"fees":{"descendant":20000000}},"id":ID}`:       chain.ErrCost,
		`{"result":{"fees":{"descendant":99999999999999}},"id":ID}`: chain.ErrOdd,
		`{"result":{"fees":{"descendant":0.00000001}},"id":ID}`:     chain.ErrOdd,
		`{"result":{"fees":{}},"id":ID}`:                            chain.ErrOdd,
		`{"result":7,"id":ID}`:                                      chain.ErrOdd,
		`{"error":{"code":-8,"message":"x"},"id":ID}`:               chain.ErrOdd,
	} {
		c, p, first := outbidding(t, entry)
		p.Replaces = [][]byte{first}
		if _, err := c.Outbid(t.Context(), "BTC", p.Replaces); !errors.Is(err, want) {
			t.Errorf("%s: got %v", entry, err)
		}
		if _, err := c.Prepare(t.Context(), p); !errors.Is(err, want) {
			t.Errorf("%s: got %v", entry, err)
		}
	}
}

// TestOutbidSeveral replaces two payments that do not exclude each other, and pays for both. Fees says so before.
func TestOutbidSeveral(t *testing.T) {
	c, p, _ := outbidding(t, notWaiting)
	all := p.Inputs
	var paid uint64
	for i := range all {
		one := *p
		one.Inputs = all[i : i+1]
		u, err := c.Prepare(t.Context(), &one)
		if err != nil {
			t.Fatal(err)
		}
		raw, _, err := keysOf(t, "mainnet").Sign(u.Raw)
		if err != nil {
			t.Fatal(err)
		}
		p.Replaces, paid = append(p.Replaces, raw), paid+u.Cost.Lo
	}

	fees, err := c.Outbid(t.Context(), "BTC", p.Replaces)
	if err != nil {
		t.Fatal(err)
	}
	p.CostCap = fees.Of(len(all)).Plus(fees.PerInput)
	u, err := c.Prepare(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.params.open(u.Raw)
	if err != nil {
		t.Fatal(err)
	}
	if least := paid + costOf(made.weight(), relayRate).Lo; u.Cost.Lo < least || fees.Of(len(all)).Lo < least {
		t.Errorf("it costs %d, at most %s, and %d are enough", u.Cost.Lo, fees.Of(len(all)).Format(0), least)
	}
}
