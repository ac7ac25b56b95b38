package walletv1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
)

// state formats a transaction in short: xid, status and optional fields.
func state(row fields) string {
	s := fmt.Sprintf("%v %v", row["xid"], row["status"])
	for _, name := range []string{"confirms", "height"} {
		if value, given := row[name]; given {
			s += fmt.Sprintf(" %s %v", name, value)
		}
	}
	return s
}

// wantRows checks the account's transactions, newest first.
func (d *desk) wantRows(key string, f fields, want ...string) {
	d.Helper()
	var got []string
	for _, row := range d.rows(key, f) {
		got = append(got, state(row))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		d.Errorf("%v: %v, want %v", f, got, want)
	}
}

// TestDepositThatLeavesAndReturns follows a deposit whose block leaves the chain, which
// is given up and then mined again: it keeps its xid and is credited once.
func TestDepositThatLeavesAndReturns(t *testing.T) {
	d := newDesk(t)
	deposit := d.Tx("BTC", 1, 1, "0.5", "")
	d.Mine("BTC")
	d.Mine("BTC", deposit)
	d.wantRows(d.Alice, fields{}, "1 PENDING confirms 1 height 101")
	d.Rewind("BTC")
	d.wantRows(d.Alice, fields{}, "1 PENDING confirms 0 height 101")
	d.Mine("BTC")
	d.wantRows(d.Alice, fields{}, "1 PENDING confirms 0 height 101")
	for range 3 {
		d.Mine("BTC")
	}
	d.wantRows(d.Alice, fields{"status": "CANCELED"}, "1 CANCELED height 101")
	d.wantRows(d.Alice, fields{"status": "PENDING"})
	d.Mine("BTC", deposit)
	d.wantRows(d.Alice, fields{}, "1 PENDING confirms 1 height 105")
	d.wantRows(d.Alice, fields{"status": "CANCELED"})
	d.Follow()
	d.Mine("BTC")
	d.wantRows(d.Alice, fields{}, "1 DONE height 105")
	d.Follow()
	d.wantRows(d.Alice, fields{"status": "DONE", "type": "DEPOSIT"}, "1 DONE height 105")
	btc := d.View.Catalogue().Asset("BTC")
	if got := d.View.Balance(1, btc.ID).Available; got != d.Units("0.5", btc) {
		t.Errorf("credited %s", got.Format(btc.Scale))
	}

	// The credited one is removed from the chain and mined elsewhere: its row is
	// rewritten, and the network's withdrawals stop.
	d.Rewind("BTC")
	d.Rewind("BTC")
	d.Mine("BTC")
	d.Mine("BTC", deposit)
	d.wantRows(d.Alice, fields{}, "1 DONE height 106")
	d.Follow()
	d.wantRows(d.Alice, fields{"asset": "BTC"}, "1 DONE height 106")
	if state := d.View.NetworkState(d.View.Catalogue().Network("BTC").ID); !state.Stopped() {
		t.Errorf("the network's withdrawals go on: %+v", state)
	}
}

// TestParked checks that deposits without an owner, or too small, wait for an operator.
func TestParked(t *testing.T) {
	d := newDesk(t)
	d.Mine("ATOM", d.Tx("ATOM", 1, 0, "2", "who?"), d.Tx("ATOM", 2, 2, "0.001", "292"))
	parked := d.View.Parked()
	if len(parked) != 2 || parked[0].Memo != "who?" || parked[1].Account != 2 {
		t.Fatalf("parked: %+v", parked)
	}
	d.wantRows(d.Alice, fields{})
	d.wantRows(d.Bob, fields{}, "1 PENDING confirms 1 height 100")
	for i, to := range []bourse.AccountID{1, 2} {
		d.Must(bourse.Command{Kind: bourse.CommandAssignDeposit, Account: to, Wallet: &bourse.WalletCommand{Deposit: parked[i].Number}})
	}
	d.wantRows(d.Alice, fields{}, "2 DONE height 100")
	d.wantRows(d.Bob, fields{}, "1 DONE height 100")
	if left := d.View.Parked(); len(left) != 0 {
		t.Errorf("parked: %+v", left)
	}
}

// TestPages reads lists of more than a page, with rows in the view, the tail and the
// store.
func TestPages(t *testing.T) {
	d := newDesk(t)
	const all = 130
	d.Credit(1, "ETH", "1000")
	d.Pause("ETH", true)
	status := map[int]string{}
	for i := 1; i <= all; i++ {
		d.taken(d.Alice, "/withdraw", d.out("ETH", "ETH", "1", "0.001"))
		status[i] = "PENDING"
		if i%3 == 0 {
			d.taken(d.Alice, "/withdraw/cancel", fields{"xid": i - 1})
			status[i-1] = "CANCELED"
		}
		if i == 60 {
			d.Follow()
		}
	}
	for _, filter := range []string{"", "PENDING", "CANCELED", "DONE"} {
		var want []string
		for i := all; i > 0; i-- {
			if filter == "" || status[i] == filter {
				want = append(want, fmt.Sprintf("%d %s", i, status[i]))
			}
		}
		for skip := 0; skip <= len(want)+50; skip += 50 {
			f := fields{"offset": skip, "asset": "ETH"}
			if filter != "" {
				f["status"] = filter
			} else {
				delete(f, "asset")
			}
			d.wantRows(d.Alice, f, want[min(skip, len(want)):min(skip+50, len(want))]...)
		}
	}
	far := fields{"offset": 10_001}
	d.wantRows(d.Alice, far)
	d.wantRows(d.Alice, far.with("type", "DEPOSIT"))
	d.refused(d.Alice, "/transactions", fields{"offset": 0, "type": "deposit"}, "type")
	d.refused(d.Alice, "/transactions", fields{"offset": 0, "status": "OPEN"}, "status")
	d.refused(d.Alice, "/transactions", fields{"offset": 0, "asset": "XYZ"}, "asset")
	d.refused(d.Alice, "/transactions", fields{}, "Missing data: offset")
}

// TestCanceledWhileTheSignerWorks checks that a withdrawal whose signer was asked is
// PENDING_CANCEL, and found as that, until the signer has said never.
func TestCanceledWhileTheSignerWorks(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "ETH", "10")
	id := xid(d.taken(d.Alice, "/withdraw", d.out("ETH", "ETH", "1", "0.001")))
	at := &bourse.WalletCommand{ID: bourse.WalletID(id)}
	d.Must(bourse.Command{Kind: bourse.CommandAsking, Wallet: at})
	d.wantRows(d.Alice, fields{"status": "PROCESSING"}, "1 PROCESSING")
	d.taken(d.Alice, "/withdraw/cancel", fields{"xid": id})

	eth := d.View.Catalogue().Asset("ETH")
	for _, stored := range []bool{false, true} {
		if stored {
			d.Follow()
		}
		d.wantRows(d.Alice, fields{}, "1 PENDING_CANCEL")
		d.wantRows(d.Alice, fields{"status": "PENDING_CANCEL"}, "1 PENDING_CANCEL")
		d.wantRows(d.Alice, fields{"status": "CANCELED"})
		d.refused(d.Alice, "/withdraw/cancel", fields{"xid": id}, "Withdrawal already canceled")
		if got := d.View.Balance(1, eth.ID).Held; got != d.Units("1.001", eth) {
			t.Errorf("%s are held", got.Format(eth.Scale))
		}
	}
	d.Must(bourse.Command{Kind: bourse.CommandVoided, Wallet: at})
	d.wantRows(d.Alice, fields{}, "1 CANCELED")
	if got := d.View.Balance(1, eth.ID).Available; got != d.Units("10", eth) {
		t.Errorf("%s are back", got.Format(eth.Scale))
	}
}

// TestPausedThenDone checks that withdrawals wait while a network is paused and continue
// in order, and that a signed one cannot be canceled.
func TestPausedThenDone(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "ETH", "10")
	d.Pause("ETH", true)
	first := xid(d.taken(d.Alice, "/withdraw", d.out("ETH", "ETH", "1", "0.001")))
	if open := d.View.Leaving(); len(open) != 1 || open[0].Status != bourse.WalletPending || !open[0].Approved {
		t.Fatalf("leaving: %+v", open)
	}
	d.Pause("ETH", false)
	d.wantRows(d.Alice, fields{}, "1 PROCESSING")
	d.Sign("ETH", first, 0, 9)
	d.refused(d.Alice, "/withdraw/cancel", fields{"xid": first}, "Withdrawal already sent")
	d.wantRows(d.Alice, fields{}, "1 PROCESSING")
	d.Accepted("ETH", 9)
	d.wantRows(d.Alice, fields{}, "1 DONE")
	d.refused(d.Alice, "/withdraw/cancel", fields{"xid": first}, "Withdrawal already sent")
	d.Pause("ETH", true)
	second := xid(d.taken(d.Alice, "/withdraw", d.out("ETH", "ETH", "1", "0.001")))
	d.taken(d.Alice, "/withdraw/cancel", fields{"xid": second})
	d.Follow()
	d.refused(d.Alice, "/withdraw/cancel", fields{"xid": second}, "Withdrawal already canceled")
	if open := d.View.Leaving(); len(open) != 0 {
		t.Errorf("leaving: %+v", open)
	}
}

// TestPendingTransferIsNotCanceled refuses the cancel of a transfer that waits, which
// goes on.
func TestPendingTransferIsNotCanceled(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	d.Must(bourse.Command{Kind: bourse.CommandSecureAccount, Account: 1, Hold: bourse.Hour})
	btc := d.View.Catalogue().Asset("BTC")
	asked := &bourse.Withdraw{Asset: btc.ID, Internal: 2, Amount: d.Units("0.5", btc)}
	o, err := d.Accounts.Transfer(t.Context(), &bourse.Command{
		Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: asked},
	}, "")
	if err != nil || o.Reason != 0 {
		t.Fatal(o.Reason, err)
	}
	d.refused(d.Alice, "/withdraw/cancel", fields{"xid": o.ID}, "Withdrawal not found")
	d.wantRows(d.Alice, fields{"type": "TRANSFER_OUT"}, fmt.Sprintf("%d PENDING", o.ID))
}

// TestTransfersAreListed gives money to another account, with and without a message, and
// reads both lists, open and stored.
func TestTransfersAreListed(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	give := func(message string) {
		btc := d.View.Catalogue().Asset("BTC")
		asked := &bourse.Withdraw{Asset: btc.ID, Internal: 2, Amount: d.Units("0.5", btc)}
		cmd := &bourse.Command{Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: asked}}
		if o, err := d.Accounts.Transfer(t.Context(), cmd, message); err != nil || o.Reason != 0 {
			t.Fatal(o.Reason, err)
		}
	}
	give("for lunch")
	give("")
	d.taken(d.Alice, "/withdraw", d.out("BTC", "BTC", "1", "0.0001"))

	for _, stored := range []bool{false, true} {
		if stored {
			d.Follow()
		}
		d.wantRows(d.Alice, fields{}, "5 PROCESSING", "3 DONE", "1 DONE")
		d.wantRows(d.Alice, fields{"type": []string{"TRANSFER_OUT", "DEPOSIT"}}, "3 DONE", "1 DONE")
		d.wantRows(d.Alice, fields{"type": "WITHDRAWAL"}, "5 PROCESSING")
		d.wantRows(d.Alice, fields{"type": "TRANSFER_IN"})
		d.wantRows(d.Alice, fields{"status": "DONE", "asset": "BTC"}, "3 DONE", "1 DONE")
		rows := d.rows(d.Bob, fields{"type": []string{}})
		if len(rows) != 2 {
			t.Fatalf("the recipient sees %v", rows)
		}
		for i, memo := range []any{nil, "for lunch"} {
			row := rows[i]
			if row["type"] != "TRANSFER_IN" || row["address"] != "alice@example.com" || row["memo"] != memo ||
				row["network"] != "" || row["network_description"] != "" || row["txid"] != nil || row["fee"] != nil {
				t.Errorf("row %v", row)
			}
		}
	}
	d.refused(d.Alice, "/transactions", fields{"offset": 0, "type": []string{"DEPOSIT", "GIFT"}}, "type")
	d.refused(d.Alice, "/withdraw/cancel", fields{"xid": 1}, "Withdrawal not found")
}

// TestStateHasAllThatIsOpen reads the state of a stream of transfers: it has the newest page,
// and behind it the older open transactions, without the final ones.
func TestStateHasAllThatIsOpen(t *testing.T) {
	d := newDesk(t)
	w := &walletv1.Wallet{Teller: d.Teller()}
	xids := func() (list []string) {
		seq, body, err := w.TransfersState(t.Context(), 1)
		if account, _ := d.View.Account(1); err != nil || seq != account.Streams.Transfers {
			t.Fatalf("the state is at %d, %v", seq, err)
		}
		for part := range strings.SplitSeq(string(body), `{"xid":`) {
			if xid, _, found := strings.Cut(part, `,"type":"DEPOSIT"`); found {
				list = append(list, xid)
			}
		}
		return list
	}
	mine := func(from, n int) {
		var txs []bourse.TxEffect
		for i := range n {
			txs = append(txs, d.Tx("BTC", byte(from+i), 1, "0.5", ""))
		}
		d.Mine("BTC", txs...)
	}

	mine(1, 40)
	if got := xids(); len(got) != 40 {
		t.Errorf("%d of 40 are in the state", len(got))
	}
	mine(41, 70)
	got := xids()
	if want := len(d.View.Parked()); want != 0 {
		t.Fatalf("%d are parked", want)
	}
	open, _ := d.View.OpenMovements(1, 1, 1<<62)
	if len(open) <= 50 || len(got) != len(open) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
		t.Errorf("the state has %d transactions, %d are open: %v", len(got), len(open), got)
	}
}
