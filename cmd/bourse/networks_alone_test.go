package main

import (
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestRealCreditAlone bounds what the one node of a network credits. What is beyond the bound is in its customer's list and
// waits, and an operator's word credits it.
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
				Deposit, Xid, Account uint64
				OverAlone             bool `json:"over_alone"`
				Amount                string
			}
		}
		var list parked
		w.until("a deposit that waits for an operator", func() bool {
			list = operate[parked](w.server, "deposits", "parked")
			return len(list.Deposits) == 1
		})
		d := list.Deposits[0]
		if d.Amount != "0.2" || d.Account != 1 || !d.OverAlone || w.balance() != "0.5" {
			t.Errorf("%+v waits, and the customer has %s", d, w.balance())
		}
		if rows := w.transfers(); len(rows) != 2 || rows[0].Xid != d.Xid || rows[0].Status != "PENDING" {
			t.Errorf("the customer sees %+v", rows)
		}
		operate[any](w.server, "deposit", "assign", fmt.Sprint(d.Deposit), fmt.Sprint(d.Account))
		w.until("what an operator admitted", func() bool { return w.balance() == "0.7" && w.status() == "DONE" })
		if rows := w.transfers(); len(rows) != 2 || rows[0].Xid != d.Xid {
			t.Errorf("the customer sees %+v in the end", rows)
		}
	})
}
