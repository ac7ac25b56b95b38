package main

import (
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestRealCreditAlone bounds what the one node of a network credits. What is beyond the bound is parked, under the
// account whose address received it, and an operator's word credits it.
func TestRealCreditAlone(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		r.settings += "\n    credit-alone: {BTC: \"0.6\"}"
		w := walk(t, r, nil)
		w.deposit()

		to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).Address
		_, err := w.outside.Send(chain.Pay{To: chain.Destination{Address: to}, Amount: w.tenths(2)})
		must(t, err)
		w.mine(w.confirms)
		type parked struct {
			Deposits []struct {
				Deposit   uint64
				AddressOf uint64 `json:"address_of"`
				Amount    string
			}
		}
		var list parked
		w.until("a deposit that is parked", func() bool {
			list = operate[parked](w.server, "deposits", "parked")
			return len(list.Deposits) == 1
		})
		d := list.Deposits[0]
		if d.Amount != "0.2" || d.AddressOf != 1 || w.balance() != "0.5" {
			t.Errorf("%+v is parked, and the customer has %s", d, w.balance())
		}
		operate[any](w.server, "deposit", "assign", fmt.Sprint(d.Deposit), fmt.Sprint(d.AddressOf))
		w.until("what an operator assigned", func() bool { return w.balance() == "0.7" })
	})
}
