package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

var walletDepositsChecks = []check{
	depositAddressFields, oneAddressEach, oneMemoEach, paymentURLs, operatingFollowsTheNetwork, operatingNeedsSync, contractsAndLeastDeposits,
	confirmsFollowTheChain, creditedAtTheTarget, creditedOnce, namesOfTheNetwork, blockLeavesTheChain, minedAgain, minedAfterCancel,
	staysAway, coinAndToken, twoTransactions, memoSaysWhose, parkedDeposit, belowTheLeast, reorganisedAfterCredit, silentNetwork, collected,
}

func TestWalletDeposits(t *testing.T) { examine(t, walletDepositsChecks) }

// info returns the answer of /deposit.
func (a *account) info(c *chain) *value {
	a.x.Helper()
	return a.wallet("/deposit", c.route()).value
}

// off returns a network of the sandbox without a reservation, for reading only.
func (x *exam) off(network string) *chain {
	c := sandboxChains[network]
	c.x = x
	return &c
}

// usdt is a token on ETH.
func (c *chain) usdt() *chain { return c.token("USDT", 6, "0.5", "0.5") }

func depositAddressFields(x *exam) {
	x.covers("WAL-ADR-1")
	a := x.account()
	for _, of := range [][2]string{
		{"BTC", "wallet_deposit_BTC"}, {"LTC", "wallet_deposit_LTC"}, {"ETH", "wallet_deposit_ETH"}, {"ATOM", "wallet_deposit_ATOM"},
	} {
		x.reserve(of[0]) // so that no other check silences it
		address, memo := a.address(x.off(of[0]))
		x.golden(a.info(x.off(of[0])), of[1], "address", address, "memo", memo)
	}
}

func oneAddressEach(x *exam) {
	x.covers("WAL-ADR-2")
	a, b := x.account(), x.account()
	for _, network := range byOutput {
		c := x.off(network)
		first := a.info(c).get("address").text
		x.equal("address", a.info(c).get("address").text, first)
		if other := b.info(c).get("address").text; other == first || other == "" {
			x.Errorf("two accounts have the addresses %q and %q", first, other)
		}
	}
	x.equal("address of a token", a.info(x.off("ETH").usdt()).get("address").text, a.info(x.off("ETH")).get("address").text)
}

func oneMemoEach(x *exam) {
	x.covers("WAL-ADR-3")
	a, b := x.account(), x.account()
	c := x.off("ATOM")
	first, second := a.info(c), b.info(c)
	x.equal("address", first.get("address").text, second.get("address").text)
	x.equal("memo", a.info(c).get("memo").text, first.get("memo").text)
	x.covers("WAL-ADR-7")
	if warning := first.get("warning").text; !strings.Contains(warning, first.get("memo_name").text) || warning == "" {
		x.Errorf("warning is %q", warning)
	}
	if v := a.info(x.off("BTC")); v.has("warning") {
		x.Errorf("warning of BTC is %s", v.get("warning"))
	}
	x.covers("WAL-ADR-3")
	if first.get("memo").text == second.get("memo").text {
		x.Errorf("two accounts have the memo %s", first.get("memo"))
	}
}

func paymentURLs(x *exam) {
	x.covers("WAL-ADR-4")
	a := x.account()
	for network, scheme := range map[string]string{"BTC": "bitcoin:", "LTC": "litecoin:", "ETH": "ethereum:"} {
		v := a.info(x.off(network))
		if url := v.get("qr_content").text; !strings.HasPrefix(url, scheme+v.get("address").text) {
			x.Errorf("qr_content is %q, want %s and the address", url, scheme)
		}
	}
	for _, c := range []*chain{x.off("ATOM"), x.off("ETH").usdt()} {
		if v := a.info(c); v.has("qr_content") {
			x.Errorf("qr_content of %s is %s", c.coin, v.get("qr_content"))
		}
	}
}

// operating checks within a time whether a network is reported to operate.
func (a *account) operating(c *chain, path string, want bool, in time.Duration) {
	a.x.Helper()
	wanted := fmt.Sprint(want)
	a.x.until(in, "operating "+wanted, func() bool { return a.behind(path, c.route()).get("operating").String() == wanted })
	a.x.equal("operating", a.wallet(path, c.route()).value.get("operating").String(), wanted)
}

func operatingFollowsTheNetwork(x *exam) {
	x.covers("WAL-ADR-5")
	c := x.chain(byOutput...)
	a := x.account()
	a.operating(c, "/deposit", true, enough)
	c.fallsSilent()
	a.operating(c, "/deposit", false, 3*time.Second)
	c.comesBack()
	a.operating(c, "/deposit", true, enough)
}

// operatingNeedsSync has a network's node fall behind, while it goes on answering.
func operatingNeedsSync(x *exam) {
	c := x.chain(byOutput...)
	a := x.account()
	agreed := func(want bool, in time.Duration) {
		x.Helper()
		x.covers("WAL-ADR-8")
		a.operating(c, "/deposit", want, in)
		x.covers("WAL-INF-3")
		a.operating(c, "/withdraw/info", want, in)
		x.covers("WAL-REST-24")
		for _, path := range []string{"/io/deposit/" + c.network + "/" + c.coin, "/io/withdrawal/" + c.network + "/info/" + c.coin} {
			x.equal("operating of "+path, a.v2("GET", path, nil).value.get("operating").String(), fmt.Sprint(want))
		}
	}
	agreed(true, enough)
	c.lags(1)
	agreed(false, 3*time.Second)
	c.lags(0)
	agreed(true, enough)
}

func contractsAndLeastDeposits(x *exam) {
	x.covers("WAL-ADR-6")
	a := x.account()
	v := a.info(x.off("ETH").usdt())
	if !strings.HasPrefix(v.get("contract").text, "0x") {
		x.Errorf("contract is %s", v.get("contract"))
	}
	x.equal("min_deposit", v.get("min_deposit").text, "1")
	v = a.info(x.off("ETH"))
	if v.has("contract") {
		x.Errorf("a coin's contract is %s", v.get("contract"))
	}
	x.equal("min_deposit", v.get("min_deposit").text, "0.001")
}

func confirmsFollowTheChain(x *exam) {
	x.covers("WAL-DEP-1")
	c := x.chain("ETH")
	a := x.account()
	txid := c.gives(a, "0.25")
	x.same("transactions", a.transactions(nil).column("xid"))
	for n := 1; n < c.confirms; n++ {
		c.mine(1)
		row := a.shows("txid", txid, "confirms", strconv.Itoa(n))
		x.equal("status", row.get("status").text, "PENDING")
		x.equal("confirms_target", row.get("confirms_target").text, strconv.Itoa(c.confirms))
		a.owns(c.coin, "0", "0", "0")
		x.failed(a.wallet("/withdraw", c.to(c.outside(), "0.1")))
	}
}

func creditedAtTheTarget(x *exam) {
	x.covers("WAL-DEP-2")
	c := x.chain("BTC", "LTC", "ETH", "ATOM")
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(c.confirms)
	a.shows("txid", txid, "status", "DONE")
	a.owns(c.coin, "0.25", "0", "0.25")
}

func creditedOnce(x *exam) {
	x.covers("WAL-DEP-3")
	c := x.chain(byOutput...)
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(c.confirms + 3)
	a.shows("txid", txid, "status", "DONE")
	c.mine(2 * c.confirms)
	a.owns(c.coin, "0.25", "0", "0.25")
	x.same("txids", a.transactions(nil).column("txid"), txid)
}

func namesOfTheNetwork(x *exam) {
	x.covers("WAL-DEP-4")
	c := x.chain(byOutput...)
	a := x.account()
	first := c.gives(a, "0.25")
	c.mine(1)
	second := c.gives(a, "0.5")
	c.mine(1)
	// The first mine(1) made one block, so the second made the next.
	low, high := a.shows("txid", first, "amount", "0.25"), a.shows("txid", second, "amount", "0.5")
	n, _ := strconv.Atoi(low.get("height").text)
	x.equal("height", high.get("height").text, strconv.Itoa(n+1))
	x.same("txids", a.transactions(nil).column("txid"), second, first)
}

func blockLeavesTheChain(x *exam) {
	x.covers("WAL-DEP-5")
	c := x.chain("ETH") // its confirmation target exceeds the blocks that replace this one
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(1)
	a.shows("txid", txid, "confirms", "1")
	c.reorganise(1, false)
	row := a.shows("txid", txid, "confirms", "0")
	x.equal("status", row.get("status").text, "PENDING")
	a.owns(c.coin, "0", "0", "0")
}

func minedAgain(x *exam) {
	x.covers("WAL-DEP-6")
	c := x.chain("ETH")
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(1)
	xid := a.shows("txid", txid, "confirms", "1").get("xid").text
	c.reorganise(1, false)
	a.shows("txid", txid, "confirms", "0")
	c.mine(1)
	x.equal("xid", a.shows("txid", txid, "confirms", "1").get("xid").text, xid)
	a.owns(c.coin, "0", "0", "0")
	c.mine(c.confirms)
	x.equal("xid", a.shows("txid", txid, "status", "DONE").get("xid").text, xid)
	a.owns(c.coin, "0.25", "0", "0.25")
	x.same("txids", a.transactions(nil).column("txid"), txid)
}

func minedAfterCancel(x *exam) {
	x.covers("WAL-DEP-6", "WAL-DEP-7")
	c := x.chain("BTC", "LTC")
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(1)
	xid := a.shows("txid", txid, "confirms", "1").get("xid").text
	c.reorganise(1, false)
	c.reorganise(2, false) // three blocks without it
	row := a.shows("txid", txid, "status", "CANCELED")
	x.equal("fields", row.names(), everyRow+" txid height")
	c.mine(1)
	x.equal("xid", a.shows("txid", txid, "confirms", "1").get("xid").text, xid)
	c.mine(c.confirms)
	x.equal("xid", a.shows("txid", txid, "status", "DONE").get("xid").text, xid)
	a.owns(c.coin, "0.25", "0", "0.25")
}

func staysAway(x *exam) {
	x.covers("WAL-DEP-7")
	c := x.chain(byOutput...)
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(1)
	a.shows("txid", txid, "confirms", "1")
	c.reorganise(1, true)
	c.mine(c.confirms + 1)
	a.shows("txid", txid, "status", "CANCELED")
	a.owns(c.coin, "0", "0", "0")
}

func coinAndToken(x *exam) {
	x.covers("WAL-DEP-8")
	c := x.chain("ETH")
	a := x.account()
	coin, token := c.gives(a, "0.25"), c.usdt().gives(a, "30")
	c.mine(c.confirms)
	for txid, want := range map[string]string{coin: "ETH", token: "USDT"} {
		row := a.shows("txid", txid, "status", "DONE")
		x.equal("asset", row.get("asset").text, want)
		x.equal("network", row.get("network").text, "ETH")
	}
	a.owns("ETH", "0.25", "0", "0.25")
	a.owns("USDT", "30", "0", "30")
}

func twoTransactions(x *exam) {
	x.covers("WAL-DEP-9")
	c := x.chain(byOutput...)
	a := x.account()
	first, second := c.gives(a, "0.25"), c.gives(a, "0.25")
	c.mine(c.confirms)
	one, two := a.shows("txid", first, "status", "DONE"), a.shows("txid", second, "status", "DONE")
	if one.get("xid").text == two.get("xid").text {
		x.Errorf("two deposits have xid %s", one.get("xid"))
	}
	a.owns(c.coin, "0.5", "0", "0.5")
}

func memoSaysWhose(x *exam) {
	x.covers("WAL-DEP-10")
	c := x.chain("ATOM")
	a, b := x.account(), x.account()
	first, second := c.gives(a, "0.25"), c.gives(b, "0.5")
	c.mine(1)
	a.shows("txid", first, "status", "DONE")
	b.shows("txid", second, "status", "DONE")
	a.owns("ATOM", "0.25", "0", "0.25")
	b.owns("ATOM", "0.5", "0", "0.5")
	x.same("txids", a.transactions(nil).column("txid"), first)
}

func parkedDeposit(x *exam) {
	x.covers("WAL-DEP-11")
	c := x.chain("ATOM")
	a := x.account()
	address, _ := a.address(c)
	first, second := c.pays(address, "", "0.25"), c.pays(address, "nobody", "0.5")
	c.mine(2)
	x.same("transactions", a.transactions(nil).column("xid"))
	for _, txid := range []string{first, second} {
		x.operate("deposit", "assign", x.parked(txid), a.id)
	}
	a.shows("txid", first, "status", "DONE")
	row := a.shows("txid", second, "status", "DONE")
	x.equal("amount", row.get("amount").text, "0.5")
	a.owns("ATOM", "0.75", "0", "0.75")
}

// parked returns the operators' number of a deposit without an account.
func (x *exam) parked(txid string) string {
	x.Helper()
	list, _ := x.operate("deposits", "parked")["deposits"].([]any)
	for _, entry := range list {
		if row, _ := entry.(map[string]any); text(row["txid"]) == txid {
			return text(row["deposit"])
		}
	}
	x.Fatalf("%s is not parked: %v", txid, list)
	return ""
}

func belowTheLeast(x *exam) {
	x.covers("WAL-DEP-12")
	c := x.chain(byOutput...)
	a := x.account()
	txid := c.gives(a, c.small)
	c.mine(2 * c.confirms)
	row := a.shows("txid", txid, "status", "PENDING")
	x.equal("amount", row.get("amount").text, c.small)
	a.owns(c.coin, "0", "0", "0")
}

func reorganisedAfterCredit(x *exam) {
	x.covers("WAL-DEP-13")
	c := x.chain("BTC", "LTC")
	x.undo("withdrawals", "resume", c.network)
	a := x.account()
	txid := c.gives(a, "0.25")
	c.mine(c.confirms)
	a.shows("txid", txid, "status", "DONE")
	c.reorganise(c.confirms, false)
	c.mine(1)
	xid := a.take(c.to(c.outside(), "0.1"))
	c.mine(1)
	a.owns(c.coin, "0.25", "0.1005", "0.1495")
	x.equal("status", a.row("xid", xid).get("status").text, "PENDING")
	c.mine(c.confirms)
	c.resume()
	a.turns(xid, "DONE")
	a.owns(c.coin, "0.1495", "0", "0.1495")
	x.same("txids of deposits", a.transactions(fields{"type": "DEPOSIT"}).column("txid"), txid)
}

func silentNetwork(x *exam) {
	x.covers("WAL-DEP-14")
	c := x.chain(byOutput...)
	a := x.account()
	first := c.gives(a, "0.25")
	c.mine(1)
	c.fallsSilent()
	second := c.gives(a, "0.5")
	// The answer waits for the silent network, and is lost if the leader changes meanwhile. The blocks are there.
	if _, err := x.exchange.operator.do("devnet", "mine", c.network, strconv.Itoa(c.confirms)); err != nil && !unanswered(err) {
		x.broken("%v", err)
	}
	c.comesBack()
	a.shows("txid", first, "status", "DONE")
	a.shows("txid", second, "status", "DONE")
	a.owns(c.coin, "0.75", "0", "0.75")
}

func collected(x *exam) {
	x.covers("WAL-DEP-15")
	c := x.chain("ETH")
	token := c.usdt()
	a := x.account()
	address, _ := a.address(token)
	txid := token.gives(a, "30")
	c.mine(c.confirms)
	a.shows("txid", txid, "status", "DONE")
	// The token is worth collecting: first coins for the fee are sent, then it is swept.
	for blocks := 0; token.received(address) != "0"; blocks++ {
		if blocks == 20 {
			x.broken("the deposit is still at its address")
		}
		c.mine(1)
	}
	c.mine(c.confirms)
	x.same("txids", a.transactions(nil).column("txid"), txid)
	a.owns("USDT", "30", "0", "30")
	a.owns("ETH", "0", "0", "0")
}
