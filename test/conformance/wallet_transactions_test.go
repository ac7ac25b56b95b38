package conformance

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

var walletTransactionsChecks = []check{
	pendingDepositRow, doneDepositRow, pendingWithdrawalRow, processingWithdrawalRow, canceledWithdrawalRow, doneWithdrawalRow,
	memosOfRows, timesOfRows, transactionPages, transactionFilters, transactionIDs, transactionsAfter,
	transfersListed,
}

func TestWalletTransactions(t *testing.T) { examine(t, walletTransactionsChecks) }

// The fields of rows on networks without memos.
const (
	everyRow      = "xid type asset network amount status create_time address network_description icon_url"
	pendingCredit = everyRow + " confirms confirms_target txid height"
	doneCredit    = everyRow + " exec_time txid height"
	pendingDraw   = everyRow + " fee"
	openDraw      = everyRow + " wd_fee_this fee"
	doneDraw      = everyRow + " exec_time txid wd_fee_this fee"
)

func pendingDepositRow(x *exam) {
	x.covers("WAL-TX-1")
	c := x.chain("BTC")
	a := x.account()
	address, _ := a.address(c)
	txid := c.gives(a, "0.25")
	c.mine(1)
	row := a.shows("txid", txid, "status", "PENDING")
	x.equal("fields", row.names(), pendingCredit)
	x.golden(a.wallet("/transactions", fields{"offset": 0}).value, "wallet_transactions", "address", address, "txid", txid)
}

func doneDepositRow(x *exam) {
	x.covers("WAL-TX-2")
	c := x.chain(byOutput...)
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(c.confirms)
	row := a.shows("txid", txid, "status", "DONE")
	x.equal("fields", row.names(), doneCredit)
	x.equal("txid", row.get("txid").text, txid)
}

func pendingWithdrawalRow(x *exam) {
	x.covers("WAL-TX-3")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	row := a.row("xid", a.take(c.to(to, "0.25")))
	x.equal("fields", row.names(), pendingDraw)
	for name, want := range map[string]string{
		"type": "WITHDRAWAL", "asset": c.coin, "network": c.network, "amount": "0.25", "status": "PENDING", "address": to, "fee": c.fee,
	} {
		x.equal(name, row.get(name).text, want)
	}
}

func processingWithdrawalRow(x *exam) {
	x.covers("WAL-TX-4")
	c := x.chain(byOutput...)
	c.fallsSilent()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.25"))
	row := a.turns(xid, "PROCESSING")
	x.equal("fields", row.names(), openDraw)
	x.equal("wd_fee_this", row.get("wd_fee_this").text, c.fee)
	x.equal("fee", row.get("fee").text, c.fee)
}

func canceledWithdrawalRow(x *exam) {
	x.covers("WAL-TX-5")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.25"))
	x.succeeds(a.drop(xid))
	row := a.turns(xid, "CANCELED")
	x.equal("fields", row.names(), openDraw)
	x.equal("wd_fee_this", row.get("wd_fee_this").text, c.fee)
}

func doneWithdrawalRow(x *exam) {
	x.covers("WAL-TX-6")
	c := x.chain(byOutput...)
	a := c.customer()
	row := a.turns(a.take(c.to(c.outside(), "0.25")), "DONE")
	x.equal("fields", row.names(), doneDraw)
	x.equal("wd_fee_this", row.get("wd_fee_this").text, c.fee)
	if row.get("txid").text == "" || strings.HasPrefix(row.get("txid").text, "internal") {
		x.Errorf("txid is %s", row.get("txid"))
	}
}

func memosOfRows(x *exam) {
	x.covers("WAL-TX-7")
	c := x.chain("ATOM")
	a := x.account("2 ATOM")
	_, memo := a.address(c)
	txid := c.gives(a, "0.25")
	c.mine(1)
	row := a.shows("txid", txid, "status", "DONE")
	x.equal("fields", row.names(), strings.Replace(doneCredit, "exec_time", "memo memo_name exec_time", 1))
	x.equal("memo", row.get("memo").text, memo)
	x.equal("memo_name", row.get("memo_name").text, "Memo")
	row = a.turns(a.take(c.to(c.outside(), "0.25").with("memo", "order 7")), "DONE")
	x.equal("fields", row.names(), strings.Replace(doneDraw, "exec_time", "memo memo_name exec_time", 1))
	x.equal("memo", row.get("memo").text, "order 7")
	c.mine(1)
	row = a.turns(a.take(c.to(c.outside(), "0.25")), "DONE")
	x.equal("fields", row.names(), strings.Replace(doneDraw, "exec_time", "memo_name exec_time", 1))
}

func timesOfRows(x *exam) {
	x.covers("WAL-TX-8")
	c := x.chain(byOutput...)
	a := c.customer()
	txid := c.gives(a, "0.25")
	c.mine(1)
	seen := a.shows("txid", txid, "confirms", "1").get("create_time").text
	xid := a.take(c.to(c.outside(), "0.25"))
	asked := a.row("xid", xid).get("create_time").text
	c.mine(c.confirms)
	for _, row := range []*value{a.shows("txid", txid, "status", "DONE"), a.turns(xid, "DONE")} {
		want := seen
		if row.get("type").text == "WITHDRAWAL" {
			want = asked
		}
		x.equal("create_time", row.get("create_time").text, want)
		if row.get("exec_time").text < want {
			x.Errorf("exec_time %s is before create_time %s", row.get("exec_time"), want)
		}
	}
}

func transactionPages(x *exam) {
	x.covers("WAL-TX-9")
	c := x.chain(byOutput...)
	c.pause()
	a := x.account("9 " + c.coin)
	var ids []string
	to := c.outside()
	for range 52 {
		ids = append(ids, a.take(c.to(to, "0.1")))
	}
	slices.Reverse(ids)
	rows := x.collect(func(offset int) *value {
		return a.wallet("/transactions", fields{"offset": offset}).value.get("transactions")
	})
	x.same("xids", (&value{items: rows}).column("xid"), ids...)
	page := a.wallet("/transactions", fields{"offset": 1, "status": "PENDING"}).value.get("transactions").column("xid")
	x.same("a page", page, ids[1:51]...)
	x.answers(a.wallet("/transactions", fields{"offset": 52}), `{"success":true,"transactions":[]}`)
	x.fails(a.wallet("/transactions", fields{}), "Missing data: offset")
}

func transactionFilters(x *exam) {
	x.covers("WAL-TX-10")
	c := x.chain("BTC", "LTC")
	a := c.customer()
	done := a.take(c.to(c.outside(), "0.1"))
	a.turns(done, "DONE")
	txid := c.gives(a, "0.1")
	c.mine(1)
	deposit := a.shows("txid", txid, "confirms", "1").get("xid").text
	c.pause()
	waits, gone := a.take(c.to(c.outside(), "0.1")), a.take(c.to(c.outside(), "0.1"))
	x.succeeds(a.drop(gone))
	a.turns(gone, "CANCELED")
	for _, f := range []struct {
		filter fields
		want   []string
	}{
		{fields{}, []string{gone, waits, deposit, done}},
		{fields{"asset": c.coin}, []string{gone, waits, deposit, done}},
		{fields{"asset": "USDT"}, nil},
		{fields{"type": "DEPOSIT"}, []string{deposit}},
		{fields{"type": "WITHDRAWAL"}, []string{gone, waits, done}},
		{fields{"type": []string{"WITHDRAWAL"}}, []string{gone, waits, done}},
		{fields{"type": []string{"DEPOSIT", "WITHDRAWAL"}}, []string{gone, waits, deposit, done}},
		{fields{"type": []string{"TRANSFER_IN", "TRANSFER_OUT"}}, nil},
		{fields{"type": []string{}}, []string{gone, waits, deposit, done}},
		{fields{"status": "PENDING"}, []string{waits, deposit}},
		{fields{"status": "PROCESSING"}, nil},
		{fields{"status": "PENDING_CANCEL"}, nil},
		{fields{"status": "CANCELED"}, []string{gone}},
		{fields{"status": "DONE"}, []string{done}},
		{fields{"type": "WITHDRAWAL", "status": "PENDING", "asset": c.coin}, []string{waits}},
		{fields{"type": []string{"TRANSFER_IN", "DEPOSIT"}, "status": "PENDING"}, []string{deposit}},
	} {
		x.same("xids", a.transactions(f.filter).column("xid"), f.want...)
	}
	for _, bad := range []fields{
		{"type": "deposit"}, {"type": ""}, {"type": []string{"DEPOSIT", "deposit"}}, {"type": []any{1}}, {"type": 1},
		{"type": []string{"DEPOSIT", "DEPOSIT", "DEPOSIT", "DEPOSIT", "DEPOSIT"}}, {"status": "OPEN"}, {"status": "done"},
	} {
		for name := range bad {
			x.failsNaming(a.wallet("/transactions", fields{"offset": 0}.and(bad)), name)
		}
	}
}

// transfersListed gives money to another account, which both find in V1.
func transfersListed(x *exam) {
	x.covers("WAL-TX-12")
	a, b := x.twoCustomers()
	said := a.v2("POST", "/io/transactions", gift(b.email, "2.5").with("memo", "for lunch")).value.get("xid").text
	silent := a.v2("POST", "/io/transactions", gift(b.email, "1")).value.get("xid").text
	row := func(kind, amount, email, memo string) string {
		return `{"xid":"#id","type":"` + kind + `","asset":"USDT","network":"","amount":"` + amount + `","status":"DONE",` +
			`"create_time":"#time","address":"` + email + `","network_description":"","icon_url":"#url"` + memo + `,"exec_time":"#time"}`
	}
	const message = `,"memo":"for lunch"`
	x.match(a.transactions(nil), `[`+row("TRANSFER_OUT", "1", b.email, "")+`,`+row("TRANSFER_OUT", "2.5", b.email, message)+`]`)
	x.match(b.transactions(nil), `[`+row("TRANSFER_IN", "1", a.email, "")+`,`+row("TRANSFER_IN", "2.5", a.email, message)+`]`)
	x.same("xids", a.transactions(fields{"type": "TRANSFER_OUT"}).column("xid"), silent, said)
	x.same("xids", a.transactions(fields{"type": "TRANSFER_IN", "asset": "USDT"}).column("xid"))
	x.same("amounts", b.transactions(fields{"type": []string{"TRANSFER_IN"}, "status": "DONE"}).column("amount"), "1", "2.5")
	x.covers("WAL-CAN-6")
	x.fails(a.drop(said), "Withdrawal not found")
}

func transactionIDs(x *exam) {
	x.covers("WAL-TX-11")
	c := x.chain("BTC", "LTC")
	a, b := c.customer(), c.customer()
	first := a.take(c.to(c.outside(), "0.1"))
	txid := c.gives(b, "0.1")
	c.mine(1)
	deposit := b.shows("txid", txid, "confirms", "1").get("xid").text
	second := a.take(c.to(c.outside(), "0.1"))
	c.mine(c.confirms)
	x.equal("xid", b.shows("txid", txid, "status", "DONE").get("xid").text, deposit)
	x.same("xids", a.transactions(nil).column("xid"), second, first)
	last := 0
	for _, xid := range []string{first, deposit, second} {
		n, err := strconv.Atoi(xid)
		if err != nil || n <= last {
			x.Errorf("xid %q follows %d", xid, last)
		}
		last = n
	}
}

func transactionsAfter(x *exam) {
	x.covers("WAL-TX-13")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	a.take(c.to(to, "0.25"))
	a.take(c.to(to, "0.25"))
	rows := a.transactions(nil)
	ids, times := rows.column("xid"), rows.column("create_time")
	x.same("after", a.transactions(fields{"after": number(ids[0])}).column("xid"), ids[1:]...)
	x.same("after", a.transactions(fields{"after": ids[1], "type": "WITHDRAWAL"}).column("xid"), withdrawals(rows, 2)...)
	x.same("after", a.transactions(fields{"after": ids[0], "offset": 1}).column("xid"), ids[2:]...)
	x.same("after", a.transactions(fields{"after": ids[len(ids)-1]}).column("xid"))

	first, last := seconds(times[len(times)-1]), seconds(times[0])
	x.same("in a time", a.transactions(fields{"from": first, "to": last}).column("xid"), ids...)
	x.same("before a time", a.transactions(fields{"to": first - 1}).column("xid"))
	x.same("after a time", a.transactions(fields{"from": last + 1}).column("xid"))
	x.same("far back", a.transactions(fields{"offset": 1000000, "asset": c.coin}).column("xid"))
	x.failsNaming(a.wallet("/transactions", fields{"offset": 0, "from": 1.5}), "from")
	x.failsNaming(a.wallet("/transactions", fields{"offset": 0, "after": true}), "after")
}

// withdrawals returns the ids of the withdrawals of a list from an index on.
func withdrawals(rows *value, from int) (ids []string) {
	for _, row := range rows.items[from:] {
		if row.get("type").text == "WITHDRAWAL" {
			ids = append(ids, row.get("xid").text)
		}
	}
	return ids
}
