package evm

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestOutbid offers an eighth more than a waiting payment on both prices, or what the network takes now if that is
// more, at least the payment's gas, and nothing above twice the cap.
func TestOutbid(t *testing.T) {
	h := header{Nonce: make([]byte, 8)}
	h.Hash = digest(keccak(h.encode()))
	c := asking(t, func(method string) string {
		if method == "eth_maxPriorityFeePerGas" {
			return `{"jsonrpc":"2.0","id":ID,"result":"` + ofUint(1e9).String() + `"}`
		}
		return `{"jsonrpc":"2.0","id":ID,"result":` + h.text() + `}`
	})
	now, err := c.prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	for _, p := range []prices{{1e9, 1e9, gasPlain}, {8e9, 8e9, 50_000}, {80e9, 1, maxGas}, {400e9, 1e9, 90_000}} {
		old := sample()
		old.tip, old.price, old.gas = p.tip, p.most, p.gas
		raw, _, err := testKeys(t).Sign(old.seal())
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.outbid(t.Context(), [][]byte{raw})
		if err != nil || got.gas != p.gas || got.most < now.most || got.tip < now.tip || got.tip > got.most ||
			8*(got.most-p.most) < p.most || 8*(got.tip-p.tip) < p.tip {
			t.Errorf("for %v: %v, %v", p, got, err)
		}
		fees, err := c.Outbid(t.Context(), "ETH", [][]byte{raw})
		if err != nil || fees.Cost.Less(costMost(p.gas, got.most)) {
			t.Errorf("for %v: a cost of %s, %v", p, fees.Cost.Format(0), err)
		}
	}

	for price, over := range map[uint64]bool{444e9: false, 445e9: true, DefaultCap: true, 888e9: true} {
		old := sample()
		old.price = price
		raw, _, err := testKeys(t).Sign(old.seal())
		if err != nil {
			t.Fatal(err)
		}
		if fees, err := c.Outbid(t.Context(), "ETH", [][]byte{raw}); err != nil || fees.Over != over {
			t.Errorf("above %d: %v, %v", price, fees, err)
		}
	}
	for _, price := range []uint64{889e9, 2 * DefaultCap, 1<<63 - 1, 1<<64 - 1} {
		old := sample()
		old.price = price
		raw, _, err := testKeys(t).Sign(old.seal())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Outbid(t.Context(), "ETH", [][]byte{raw}); !errors.Is(err, chain.ErrCost) {
			t.Errorf("above %d: %v", price, err)
		}
	}
}
