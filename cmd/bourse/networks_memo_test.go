package main

import (
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// withoutMemo pays to the shared address without a memo: an operator gives the money to the customer.
func (w *depositor) withoutMemo() {
	w.t.Helper()
	before := number(w.balance())
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).destination()
	to.Memo = ""
	if _, err := w.outside.Send(chain.Pay{To: to, Amount: w.tenths(3)}); err != nil {
		w.t.Fatal(err)
	}
	w.mine(1)
	parked := func() string {
		books := mustControl[struct {
			Assets []struct{ Asset, Parked string }
		}](w.server, "solvency", map[string]any{})
		for _, a := range books.Assets {
			if a.Asset == w.asset {
				return a.Parked
			}
		}
		return ""
	}
	w.until("money that is nobody's", func() bool { return parked() == "0.3" })
	if number(w.balance()).Cmp(before) != 0 {
		w.t.Errorf("the customer has %s", w.balance())
	}
}

// longMemos pays with the longest memo that the chain takes, in and out: nobody has it, so the deposit waits for an operator,
// who is shown all of it.
func (w *depositor) longMemos() {
	w.t.Helper()
	memo := strings.Repeat("a long memo & ", 20)[:bourse.MaxMemo]
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).destination()
	to.Memo = memo
	if _, err := w.outside.Send(chain.Pay{To: to, Amount: w.tenths(1)}); err != nil {
		w.t.Fatal(err)
	}
	w.mine(1)
	w.until("a deposit with a long memo", func() bool {
		list := operate[struct{ Deposits []struct{ Memo string } }](w.server, "deposits", "parked")
		return len(list.Deposits) == 2 && list.Deposits[1].Memo == memo
	})

	out, err := w.outside.NewAddress()
	if err != nil {
		w.t.Fatal(err)
	}
	for text, valid := range map[string]bool{memo: true, memo + "m": false} {
		got := wallet[struct {
			Valid bool `json:"valid_memo"`
		}](w, "/wallet/withdraw/validate", map[string]any{"address": out, "memo": text})
		if got.Valid != valid {
			w.t.Errorf("a memo of %d bytes is valid: %t", len(text), got.Valid)
		}
	}
	fee := wallet[walletAnswer](w, "/wallet/withdraw/info", map[string]any{}).FeeMin
	a := wallet[walletAnswer](w, "/wallet/withdraw", map[string]any{
		"address": out, "memo": memo, "amount": "0.1", "fee": fee, "adbk_name": "far away",
	})
	if !a.Success {
		w.t.Fatalf("the withdrawal is refused: %s", a.Error)
	}
	w.settled("a withdrawal with a long memo", func() bool { return w.status() == "DONE" })
	w.mine(1)
	if got := w.arrived(out); got != "0.1" {
		w.t.Errorf("%s arrived", got)
	}
}
