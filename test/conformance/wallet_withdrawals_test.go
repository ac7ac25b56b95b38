package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

var walletWithdrawalsChecks = []check{
	withdrawInfoFields, feesAndDecimals, infoOperating, validatesWhatIsSent, validAddresses, memosWhereThereAreNone, internalAddresses,
	sharedAddress, otherSpellings, stoppedInfo, withdrawAnswer, withdrawHolds, withdrawDecimals, withdrawFees, leastWithdrawal, withdrawAddresses, withdrawMemos,
	refusedHoldsNothing, withdrawPays, withdrawPaysMemo, withdrawPaysToken, withdrawalsAtOnce, withdrawalRepeated, frozenWithdrawals,
}

func TestWalletWithdrawals(t *testing.T) { examine(t, walletWithdrawalsChecks) }

func withdrawInfoFields(x *exam) {
	x.covers("WAL-INF-1")
	a := x.account()
	for _, of := range []struct {
		c    *chain
		name string
	}{
		{x.off("BTC"), "wallet_withdraw_info_BTC"}, {x.off("ETH").usdt(), "wallet_withdraw_info_USDT"},
		{x.off("ATOM"), "wallet_withdraw_info_ATOM"},
	} {
		x.reserve(of.c.network) // so that no other check silences or pauses it
		x.golden(a.wallet("/withdraw/info", of.c.route()).value, of.name)
	}
}

func feesAndDecimals(x *exam) {
	x.covers("WAL-INF-2")
	a := x.account()
	for network, want := range map[string][3]string{
		"BTC": {"0.00001", "0.001", "8"}, "LTC": {"0.0001", "0.01", "8"}, "ETH": {"0.0001", "0.01", "18"}, "ATOM": {"0.001", "0.1", "6"},
	} {
		v := a.wallet("/withdraw/info", x.off(network).route()).value
		x.equal("fee_min", v.get("fee_min").text, want[0])
		x.equal("fee_max", v.get("fee_max").text, want[1])
		x.equal("prec", v.get("prec").text, want[2])
	}
}

func infoOperating(x *exam) {
	x.covers("WAL-INF-3")
	c := x.chain(byOutput...)
	a := x.account()
	a.operating(c, "/withdraw/info", true, enough)
	c.fallsSilent()
	a.operating(c, "/withdraw/info", false, 3*time.Second)
	c.comesBack()
	a.operating(c, "/withdraw/info", true, enough)
}

// validate validates an address.
func (a *account) validate(c *chain, more fields) *answer {
	a.x.Helper()
	return a.wallet("/withdraw/validate", c.route().and(more))
}

func validatesWhatIsSent(x *exam) {
	x.covers("WAL-VAL-1")
	x.awake("ATOM")
	a := x.account()
	c := x.off("ATOM")
	to := c.outside()
	x.golden(a.validate(c, fields{"address": to, "memo": "order 7"}).value, "wallet_withdraw_validate")
	x.answers(a.validate(c, fields{"address": to}), `{"success":true,"valid_address":true,"internal":false}`)
	x.answers(a.validate(c, fields{"memo": "order 7"}), `{"success":true,"valid_memo":true}`)
	x.answers(a.validate(c, nil), `{"success":true}`)
}

// spoiled returns invalid addresses that look valid.
func spoiled(address string) []string {
	middle, last := len(address)/2, len(address)-1
	other := func(at int) string {
		c := byte('2')
		if address[at] == c {
			c = '3'
		}
		return address[:at] + string(c) + address[at+1:]
	}
	return []string{"", "x", address[:last], address + "2", other(middle), other(last), " " + address, address + "\n"}
}

func validAddresses(x *exam) {
	x.covers("WAL-VAL-2")
	x.awake(networks...)
	a := x.account()
	good := map[string]string{}
	for network := range sandboxChains {
		good[network] = x.off(network).outside()
	}
	judged := func(network, address, want string) {
		got := a.validate(x.off(network), fields{"address": address}).value.get("valid_address")
		if got.String() != want {
			x.Errorf("%s: valid_address of %q is %s, want %s", network, address, got, want)
		}
	}
	for network, address := range good {
		judged(network, address, "true")
		for _, bad := range spoiled(address) {
			judged(network, bad, "false")
		}
		for other, address := range good {
			if other != network {
				judged(network, address, "false")
			}
		}
	}
}

func memosWhereThereAreNone(x *exam) {
	x.covers("WAL-VAL-3")
	x.awake(byOutput...)
	a := x.account()
	for _, network := range byOutput {
		x.answers(a.validate(x.off(network), fields{"memo": "7"}), `{"success":true,"valid_memo":false}`)
		x.answers(a.validate(x.off(network), fields{"memo": ""}), `{"success":true,"valid_memo":true}`)
	}
}

func internalAddresses(x *exam) {
	x.covers("WAL-VAL-4")
	x.awake(networks...)
	a, b := x.account(), x.account()
	for network := range sandboxChains {
		c := x.off(network)
		address, memo := b.address(c)
		more := fields{"address": address}
		want := `{"success":true,"valid_address":true,"internal":true}`
		if memo != "" {
			more["memo"] = memo
			want = `{"success":true,"valid_address":true,"valid_memo":true,"internal":true}`
		}
		x.answers(a.validate(c, more), want)
		x.answers(a.validate(c, fields{"address": c.outside()}), `{"success":true,"valid_address":true,"internal":false}`)
		x.answers(a.validate(c, fields{"address": "x"}), `{"success":true,"valid_address":false,"internal":false}`)
	}
}

func sharedAddress(x *exam) {
	x.covers("WAL-VAL-5")
	x.awake("ATOM")
	c := x.off("ATOM")
	a := x.account("1 ATOM")
	address, _ := a.address(c)
	v := a.validate(c, fields{"address": address, "memo": "4000000000"}).value
	x.equal("valid_address", v.get("valid_address").String(), "false")
	x.equal("valid_memo", v.get("valid_memo").String(), "false")
	x.equal("internal", v.get("internal").String(), "false")
	x.answers(a.validate(c, fields{"address": address}), `{"success":true,"valid_address":false,"internal":false}`)
	x.failsNaming(a.wallet("/withdraw", c.to(address, "0.1").with("memo", "4000000000")), "address")
	x.failed(a.wallet("/withdraw", c.to(address, "0.1")))
	a.owns("ATOM", "1", "0", "1")
}

func otherSpellings(x *exam) {
	x.covers("WAL-VAL-6")
	c := x.chain("BTC")
	x.awake("LTC", "ATOM")
	a, b := x.account(), x.account()
	for _, network := range []string{"BTC", "LTC", "ATOM"} {
		c := x.off(network)
		x.answers(a.validate(c, fields{"address": strings.ToUpper(c.outside())}), `{"success":true,"valid_address":true,"internal":false}`)
	}
	c.pause()
	payer := c.customer()
	to, _ := b.address(c)
	spelled := strings.ToUpper(to)
	x.answers(a.validate(c, fields{"address": spelled}), `{"success":true,"valid_address":true,"internal":true}`)
	x.equal("address", payer.row("xid", payer.take(c.to(spelled, "0.1"))).get("address").text, to)
	payer.saves(c, "one", to)
	payer.saves(c, "one", spelled)
	x.same("entries", saved(payer.book(nil)), "one:"+to)
}

func stoppedInfo(x *exam) {
	x.covers("WAL-INF-4")
	c := x.chain(byOutput...)
	a := x.account()
	warned := func() bool { return a.wallet("/withdraw/info", c.route()).value.has("warning") }
	if warned() {
		x.Errorf("there is a warning while nothing is stopped")
	}
	c.pause()
	if !warned() {
		x.Errorf("there is no warning while withdrawals are stopped")
	}
}

func withdrawAnswer(x *exam) {
	x.covers("WAL-WD-1")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	res := a.wallet("/withdraw", c.to(c.outside(), "0.1"))
	x.golden(res.value, "wallet_withdraw")
	x.same("xids", a.transactions(nil).column("xid"), res.value.get("xid").text)
	a.drop(res.value.get("xid").text)
	for _, name := range []string{"asset", "network", "address", "amount", "fee"} {
		x.fails(a.wallet("/withdraw", c.to(c.outside(), "0.1").with(name, nil)), "Missing data: "+name)
	}
}

func withdrawHolds(x *exam) {
	x.covers("WAL-WD-2")
	c := x.chain(byOutput...)
	c.pause()
	a := x.account("0.7005 " + c.coin)
	to := c.outside()
	x.rejects(a.wallet("/withdraw", c.to(to, "0.70000001")), "INSUF_FUNDS")
	x.rejects(a.wallet("/withdraw", c.to(to, "0.7").with("fee", "0.00050001")), "INSUF_FUNDS")
	a.owns(c.coin, "0.7005", "0", "0.7005")
	a.take(c.to(to, "0.7"))
	a.owns(c.coin, "0.7005", "0.7005", "0")
	x.rejects(a.wallet("/withdraw", c.to(to, "0.1")), "INSUF_FUNDS")
}

func withdrawDecimals(x *exam) {
	x.covers("WAL-WD-3")
	c := x.chain("BTC", "LTC", "ATOM")
	c.pause()
	a := c.customer()
	body := c.to(c.outside(), "0.1")
	beyond, last := finest(c.prec + 1)[3:], finest(c.prec)[3:]
	x.failsNaming(a.wallet("/withdraw", body.with("amount", "0.1"+beyond)), "amount")
	x.failsNaming(a.wallet("/withdraw", body.with("fee", c.fee+strings.Repeat("0", c.prec-len(c.fee)+2)+"1")), "fee")
	a.owns(c.coin, "1", "0", "1")
	row := a.row("xid", a.take(body.with("amount", "0.1"+last+"000")))
	x.equal("amount", row.get("amount").text, "0.1"+last)
}

func withdrawFees(x *exam) {
	x.covers("WAL-WD-4")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	info := a.behind("/withdraw/info", c.route())
	body := c.to(c.outside(), "0.1")
	low, high := info.get("fee_min").text, info.get("fee_max").text
	for _, bad := range []string{"0", "0.000009", high + "1", "1", "0.5"} {
		x.failsNaming(a.wallet("/withdraw", body.with("fee", bad)), "fee")
	}
	a.owns(c.coin, "1", "0", "1")
	for _, good := range []string{low, high} {
		x.equal("fee", a.row("xid", a.take(body.with("fee", good))).get("fee").text, good)
	}
}

func leastWithdrawal(x *exam) {
	x.covers("WAL-WD-5")
	c := x.chain("BTC", "LTC", "ATOM")
	c.pause()
	a := c.customer()
	least := a.behind("/withdraw/info", c.route()).get("min_withdrawal").text
	x.failsNaming(a.wallet("/withdraw", c.to(c.outside(), strings.TrimSuffix(least, "1")+"09")), "amount")
	x.failsNaming(a.wallet("/withdraw", c.to(c.outside(), finest(c.prec))), "amount")
	a.owns(c.coin, "1", "0", "1")
	x.equal("amount", a.row("xid", a.take(c.to(c.outside(), least))).get("amount").text, least)
}

func withdrawAddresses(x *exam) {
	x.covers("WAL-WD-6")
	for network := range sandboxChains {
		c := x.off(network)
		a := c.customer()
		bad := spoiled(c.outside())
		for other := range sandboxChains {
			if other != network {
				bad = append(bad, x.off(other).outside())
			}
		}
		for _, address := range bad {
			x.failsNaming(a.wallet("/withdraw", c.to(address, "0.1")), "address")
		}
		a.owns(c.coin, "1", "0", "1")
	}
}

func withdrawMemos(x *exam) {
	x.covers("WAL-WD-7")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	x.failsNaming(a.wallet("/withdraw", c.to(c.outside(), "0.1").with("memo", "7")), "memo")
	a.owns(c.coin, "1", "0", "1")
	row := a.row("xid", a.take(c.to(c.outside(), "0.1").with("memo", "")))
	x.equal("fields", row.names(), pendingDraw)
	m := x.off("ATOM")
	b := m.customer()
	x.failsNaming(b.wallet("/withdraw", m.to(m.outside(), "0.1").with("memo", strings.Repeat("7", 1000))), "memo")
	b.owns("ATOM", "1", "0", "1")
}

func refusedHoldsNothing(x *exam) {
	x.covers("WAL-WD-8")
	c := x.chain(byOutput...)
	a := c.customer()
	body := c.to(c.outside(), "0.1")
	for name, bad := range map[string]any{
		"asset": "NOSUCH", "network": "ATOM", "address": "x", "amount": "100", "fee": "0.9", "memo": "7", "adbk_name": "a\tb", "client_id": "a b",
	} {
		x.failed(a.wallet("/withdraw", body.with(name, bad)))
	}
	a.owns(c.coin, "1", "0", "1")
	x.answers(a.wallet("/transactions", fields{"offset": 0}), `{"success":true,"transactions":[]}`)
}

// paid checks the balance of an address outside after the next block.
func (c *chain) paid(address, want string) {
	c.x.Helper()
	c.mine(1)
	c.x.equal("what arrived", c.received(address), want)
}

func withdrawPays(x *exam) {
	x.covers("WAL-WD-9")
	c := x.chain(byOutput...)
	a := c.customer()
	to := c.outside()
	row := a.turns(a.take(c.to(to, "0.25")), "DONE")
	c.paid(to, "0.25")
	a.owns(c.coin, "0.7495", "0", "0.7495")
	x.equal("fee", row.get("wd_fee_this").text, c.fee)
}

func withdrawPaysMemo(x *exam) {
	x.covers("WAL-WD-9")
	c := x.chain("ATOM")
	a := c.customer()
	to := c.outside()
	a.turns(a.take(c.to(to, "0.25").with("memo", "order 7")), "DONE")
	c.paid(to, "0.25")
	a.owns("ATOM", "0.745", "0", "0.745")
}

func withdrawPaysToken(x *exam) {
	x.covers("WAL-WD-9")
	c := x.chain("ETH").usdt()
	a := x.account("100 USDT")
	to := c.outside()
	a.turns(a.take(c.to(to, "25.5")), "DONE")
	c.paid(to, "25.5")
	a.owns("USDT", "74", "0", "74")
}

func withdrawalsAtOnce(x *exam) {
	x.covers("WAL-WD-10")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	body, err := json.Marshal(c.to(c.outside(), "0.6").with("api_key", a.key))
	if err != nil {
		x.broken("%v", err)
	}
	var together sync.WaitGroup
	for range 50 {
		together.Go(func() { _, _ = x.exchange.send(http.MethodPost, x.url+"/wallet/withdraw", string(body), nil) })
	}
	together.Wait()
	rows := a.transactions(nil).column("xid")
	if len(rows) != 1 {
		x.Fatalf("%d withdrawals, want 1", len(rows))
	}
	a.owns(c.coin, "1", "0.6005", "0.3995")
	a.drop(rows[0])
}

func withdrawalRepeated(x *exam) {
	x.covers("WAL-WD-11")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	body := c.to(c.outside(), "0.25").with("client_id", "w:1")
	xid := a.take(body)
	x.answers(a.wallet("/withdraw", body), `{"success":true,"xid":`+xid+`}`)
	x.rejects(a.wallet("/withdraw", body.with("amount", "0.2")), "DUPLICATE_CLIENT_ID")
	x.rejects(a.wallet("/withdraw", body.with("address", c.outside())), "DUPLICATE_CLIENT_ID")
	x.same("xids", a.transactions(nil).column("xid"), xid)
	a.owns(c.coin, "1", "0.2505", "0.7495")
	x.failsNaming(a.wallet("/withdraw", body.with("client_id", "a b")), "client_id")
}

func frozenWithdrawals(x *exam) {
	x.covers("WAL-WD-12")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	xid := a.take(c.to(c.outside(), "0.25"))
	x.operate("account", "freeze", a.id)
	x.rejects(a.wallet("/withdraw", c.to(c.outside(), "0.25")), "ACCOUNT_FROZEN")
	x.succeeds(a.drop(xid))
	a.turns(xid, "CANCELED")
	a.owns(c.coin, "1", "0", "1")
}
