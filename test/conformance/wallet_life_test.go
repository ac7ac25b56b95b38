package conformance

import (
	"fmt"
	"testing"
)

var walletLifeChecks = []check{
	unstopped, pausedNetwork, silentNode, paidOnce, denied, finalStatuses, withdrawalReorganised,
	cancelAnswer, cancelWaiting, cancelProcessing, cancelReleases, cancelSent, secondCancel, cancelInside, cancelUnknown, canceledIsNeverPaid,
	insideBoth, insideMoney, insideFees, insideNames, insideMemo, insidePaused,
}

func TestWalletLife(t *testing.T) { examine(t, walletLifeChecks) }

func unstopped(x *exam) {
	x.covers("WAL-LIF-1")
	c := x.chain("BTC", "LTC", "ETH", "ATOM")
	a := c.customer()
	a.turns(a.take(c.to(c.outside(), "0.1")), "DONE")
}

func pausedNetwork(x *exam) {
	x.covers("WAL-LIF-2")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	xid := a.take(c.to(to, "0.1"))
	c.paid(to, "0")
	x.equal("status", a.row("xid", xid).get("status").text, "PENDING")
	c.resume()
	a.turns(xid, "DONE")
	c.paid(to, "0.1")
}

func silentNode(x *exam) {
	x.covers("WAL-LIF-3")
	c := x.chain(byOutput...)
	a := c.customer()
	to := c.outside()
	c.fallsSilent()
	xid := a.take(c.to(to, "0.1"))
	a.turns(xid, "PROCESSING")
	c.comesBack()
	a.turns(xid, "DONE")
	c.paid(to, "0.1")
}

func paidOnce(x *exam) {
	x.covers("WAL-LIF-4")
	c := x.chain(byOutput...)
	a := c.customer()
	to := c.outside()
	xid := a.take(c.to(to, "0.1"))
	for range 3 {
		c.fallsSilent()
		c.comesBack()
	}
	txid := a.turns(xid, "DONE").get("txid").text
	for range 3 {
		c.paid(to, "0.1")
	}
	x.equal("txid", a.row("xid", xid).get("txid").text, txid)
	a.owns(c.coin, "0.8995", "0", "0.8995")
}

func denied(x *exam) {
	x.covers("WAL-LIF-5")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.1"))
	x.operate("withdrawal", "deny", xid)
	a.turns(xid, "CANCELED")
	a.owns(c.coin, "1", "0", "1")
}

func finalStatuses(x *exam) {
	x.covers("WAL-LIF-6")
	c := x.chain(byOutput...)
	a := c.customer()
	done := a.take(c.to(c.outside(), "0.1"))
	a.turns(done, "DONE")
	c.pause()
	canceled := a.take(c.to(c.outside(), "0.1"))
	x.succeeds(a.drop(canceled))
	a.turns(canceled, "CANCELED")
	c.resume()
	x.failed(a.drop(done))
	x.failed(a.drop(canceled))
	c.mine(c.confirms)
	x.equal("status", a.row("xid", done).get("status").text, "DONE")
	x.equal("status", a.row("xid", canceled).get("status").text, "CANCELED")
	a.owns(c.coin, "0.8995", "0", "0.8995")
}

func withdrawalReorganised(x *exam) {
	x.covers("WAL-LIF-7")
	c := x.chain(byOutput...)
	a := c.customer()
	to := c.outside()
	xid := a.take(c.to(to, "0.1"))
	txid := a.turns(xid, "DONE").get("txid").text
	c.paid(to, "0.1")
	c.reorganise(1, false)
	x.equal("what is left", c.received(to), "0")
	c.paid(to, "0.1")
	row := a.row("xid", xid)
	x.equal("status", row.get("status").text, "DONE")
	x.equal("txid", row.get("txid").text, txid)
	a.owns(c.coin, "0.8995", "0", "0.8995")
}

func cancelAnswer(x *exam) {
	x.covers("WAL-CAN-1")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	x.golden(a.drop(a.take(c.to(c.outside(), "0.1"))).value, "wallet_success")
	x.fails(a.wallet("/withdraw/cancel", fields{}), "Missing data: xid")
}

func cancelWaiting(x *exam) {
	x.covers("WAL-CAN-2")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.1"))
	x.succeeds(a.drop(xid))
	if status := a.row("xid", xid).get("status").text; status != "PENDING_CANCEL" && status != "CANCELED" {
		x.Errorf("status is %s after a cancel", status)
	}
	a.turns(xid, "CANCELED")
}

func cancelProcessing(x *exam) {
	x.covers("WAL-CAN-2")
	c := x.chain(byOutput...)
	c.fallsSilent()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.1"))
	a.turns(xid, "PROCESSING")
	x.succeeds(a.drop(xid))
	a.turns(xid, "CANCELED")
}

func cancelReleases(x *exam) {
	x.covers("WAL-CAN-3")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.9"))
	a.owns(c.coin, "1", "0.9005", "0.0995")
	x.succeeds(a.drop(xid))
	a.turns(xid, "CANCELED")
	a.owns(c.coin, "1", "0", "1")
	a.take(c.to(c.outside(), "0.9"))
}

func cancelSent(x *exam) {
	x.covers("WAL-CAN-4")
	c := x.chain(byOutput...)
	a := c.customer()
	to := c.outside()
	xid := a.take(c.to(to, "0.1"))
	a.turns(xid, "DONE")
	x.fails(a.drop(xid), "Withdrawal already sent")
	x.equal("status", a.row("xid", xid).get("status").text, "DONE")
	c.paid(to, "0.1")
}

func secondCancel(x *exam) {
	x.covers("WAL-CAN-5")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.1"))
	x.succeeds(a.drop(xid))
	x.failed(a.drop(xid))
	a.turns(xid, "CANCELED")
	x.fails(a.drop(xid), "Withdrawal already canceled")
	a.owns(c.coin, "1", "0", "1")
}

func cancelInside(x *exam) {
	x.covers("WAL-CAN-8")
	c := x.chain(byOutput...)
	a, b := c.customer(), x.account()
	xid := c.inside(a, b, "0.25", "0")
	x.fails(a.drop(xid), "Withdrawal already done")
	x.equal("status", a.row("xid", xid).get("status").text, "DONE")
	b.owns(c.coin, "0.25", "0", "0.25")
}

func cancelUnknown(x *exam) {
	x.covers("WAL-CAN-6")
	c := x.chain(byOutput...)
	a, b := c.customer(), x.account()
	txid := c.gives(b, "0.25")
	c.mine(1)
	deposit := b.shows("txid", txid, "confirms", "1").get("xid").text
	c.pause()
	xid := a.take(c.to(c.outside(), "0.1"))
	x.fails(b.drop(xid), "Withdrawal not found")
	x.fails(b.drop(deposit), "Withdrawal not found")
	x.fails(b.drop("9000000000000000000"), "Withdrawal not found")
	x.fails(b.drop("0"), "Withdrawal not found")
	x.equal("status", a.row("xid", xid).get("status").text, "PENDING")
}

func canceledIsNeverPaid(x *exam) {
	x.covers("WAL-CAN-7")
	c := x.chain(byOutput...)
	a := c.customer()
	to := c.outside()
	paid := 0
	for range 10 { // some are signed first, some are not, some while the cancel waits for the signer
		xid := a.take(c.to(to, "0.05"))
		if a.drop(xid).value.get("success").kind != 't' {
			a.turns(xid, "DONE")
			paid++
			continue
		}
		if a.ends(xid) == "DONE" { // the signer had signed: WAL-CAN-2
			paid++
		}
	}
	c.mine(1)
	c.paid(to, trimmed(paid*500))
	left := trimmed(10000 - paid*505)
	a.owns(c.coin, left, "0", left)
	statuses := map[string]int{}
	for _, status := range a.transactions(nil).column("status") {
		statuses[status]++
	}
	if statuses["DONE"] != paid || statuses["CANCELED"] != 10-paid {
		x.Errorf("%d were paid, and the list says %v", paid, statuses)
	}
}

// trimmed formats ten-thousandths without trailing zeros.
func trimmed(n int) string { return product(fmt.Sprintf("%d", n), "0.0001") }

// inside moves money from one account to another.
func (c *chain) inside(a, b *account, amount, fee string) (xid string) {
	c.x.Helper()
	address, memo := b.address(c)
	body := c.to(address, amount).with("fee", fee)
	if memo != "" {
		body = body.with("memo", memo)
	}
	return a.take(body)
}

func insideBoth(x *exam) {
	x.covers("WAL-INT-1")
	c := x.chain(byOutput...)
	a, b := c.customer(), x.account()
	address, _ := b.address(c)
	xid := c.inside(a, b, "0.25", "0")
	out, in := a.row("xid", xid), first(b.transactions(nil).items)
	x.equal("fields", out.names(), doneDraw)
	x.equal("fields", in.names(), everyRow+" exec_time txid")
	for _, row := range []*value{out, in} {
		x.equal("status", row.get("status").text, "DONE")
		x.equal("address", row.get("address").text, address)
		x.equal("amount", row.get("amount").text, "0.25")
	}
	x.same("types", []string{out.get("type").text, in.get("type").text}, "WITHDRAWAL", "DEPOSIT")
}

func insideMoney(x *exam) {
	x.covers("WAL-INT-2")
	c := x.chain(byOutput...)
	a, b := c.customer(), x.account()
	c.inside(a, b, "1", "0")
	a.owns(c.coin, "0", "0", "0")
	b.owns(c.coin, "1", "0", "1")
}

func insideFees(x *exam) {
	x.covers("WAL-INT-3")
	c := x.chain(byOutput...)
	a, b := c.customer(), x.account()
	high := a.behind("/withdraw/info", c.route()).get("fee_max").text
	for _, fee := range []string{"0", c.fee, high} {
		row := a.row("xid", c.inside(a, b, "0.1", fee))
		x.equal("fee", row.get("fee").text, "0")
		x.equal("wd_fee_this", row.get("wd_fee_this").text, "0")
	}
	address, _ := b.address(c)
	x.failsNaming(a.wallet("/withdraw", c.to(address, "0.1").with("fee", high+"1")), "fee")
	a.owns(c.coin, "0.7", "0", "0.7")
}

func insideNames(x *exam) {
	x.covers("WAL-INT-4")
	c := x.chain(byOutput...)
	a, b := c.customer(), x.account()
	xid := c.inside(a, b, "0.25", "0")
	x.equal("txid", a.row("xid", xid).get("txid").text, "internal-"+xid)
	in := b.row("txid", "internal-"+xid)
	x.equal("txid", in.get("txid").text, "internal-"+xid)
	if in.has("height") {
		x.Errorf("height is %s", in.get("height"))
	}
}

func insideMemo(x *exam) {
	x.covers("WAL-INT-5")
	c := x.chain("ATOM")
	a, b, other := c.customer(), x.account(), x.account()
	xid := c.inside(a, b, "0.25", "0")
	_, memo := b.address(c)
	x.equal("memo", a.row("xid", xid).get("memo").text, memo)
	x.equal("memo", b.row("txid", "internal-"+xid).get("memo").text, memo)
	b.owns("ATOM", "0.25", "0", "0.25")
	other.owns("ATOM", "0", "0", "0")
}

func insidePaused(x *exam) {
	x.covers("WAL-INT-6")
	c := x.chain(byOutput...)
	c.pause()
	a, b := c.customer(), x.account()
	xid := c.inside(a, b, "0.25", c.fee)
	x.equal("status", a.row("xid", xid).get("status").text, "PENDING")
	b.owns(c.coin, "0", "0", "0")
	c.resume()
	a.turns(xid, "DONE")
	b.owns(c.coin, "0.25", "0", "0.25")
	a.owns(c.coin, "0.75", "0", "0.75")
}
