package conformance

import (
	"fmt"
	"strings"
	"testing"
)

var walletAddressbookChecks = []check{
	savedAddress, addressbookFilters, namesOfEntries, sameNameAgain, nameTaken, refusedSavesNothing, renameEntry, deleteEntry,
	unknownEntry, namesByNetwork,
}

func TestWalletAddressbook(t *testing.T) { examine(t, walletAddressbookChecks) }

// book returns the account's saved addresses.
func (a *account) book(filter fields) *value {
	a.x.Helper()
	return a.wallet("/addressbook", filter).value.get("addressbook")
}

// saved formats entries as "name:address" in order.
func saved(book *value) []string {
	list := []string{}
	for _, m := range book.members {
		list = append(list, m.value.get("name").text+":"+m.value.get("address").text)
	}
	return list
}

// saves withdraws a little to an address and saves it.
func (a *account) saves(c *chain, name, address string) {
	a.x.Helper()
	a.take(c.to(address, "0.02").with("adbk_name", name))
}

func savedAddress(x *exam) {
	x.covers("WAL-BOOK-1")
	c, m := x.chain("BTC"), x.off("ATOM")
	c.pause()
	a := x.account("1 BTC", "1 ATOM")
	first := c.outside()
	a.saves(c, "cold store 7", first)
	x.reserve("ATOM")
	m.pause()
	second := m.outside()
	a.take(m.to(second, "0.1").with("memo", "order 7").with("adbk_name", "other wallet"))
	ids := members(a.book(nil))
	if len(ids) != 2 {
		x.Fatalf("entries %v, want two", ids)
	}
	x.golden(a.wallet("/addressbook", fields{}).value, "wallet_addressbook", "ONE", ids[0], "TWO", ids[1], "first", first, "second", second)
	for _, id := range ids {
		x.match(&value{kind: '0', text: id}, `"#id"`)
	}
}

func addressbookFilters(x *exam) {
	x.covers("WAL-BOOK-2")
	c := x.chain("ETH")
	c.pause()
	a := x.account("1 ETH", "100 USDT")
	x.answers(a.wallet("/addressbook", fields{}), `{"success":true,"addressbook":{}}`)
	first, second := c.outside(), c.outside()
	a.saves(c, "one", first)
	a.take(c.usdt().to(second, "10").with("adbk_name", "two"))
	one, two := "one:"+first, "two:"+second
	x.same("entries", saved(a.book(nil)), one, two)
	x.same("entries", saved(a.book(fields{"asset": "USDT"})), two)
	x.same("entries", saved(a.book(fields{"asset": "ETH"})), one)
	x.same("entries", saved(a.book(fields{"network": "ETH"})), one, two)
	x.same("entries", saved(a.book(fields{"network": "BTC"})))
	x.same("entries", saved(a.book(fields{"network": "ETH", "asset": "USDT"})), two)
}

func namesOfEntries(x *exam) {
	x.covers("WAL-BOOK-3")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	bad := []any{
		"", strings.Repeat("a", 256), strings.Repeat("é", 256), "a\n", "a\x00", "a\x7f", "a\u0085", "a\u2028", "a\u202eb", 7, true,
	}
	for _, name := range bad {
		x.failsNaming(a.wallet("/withdraw", c.to(to, "0.02").with("adbk_name", name)), "adbk_name")
	}
	x.same("entries", saved(a.book(nil)))
	a.owns(c.coin, "1", "0", "1")
	good := []string{"a", "Z 9", "a_b-c", "<b>", "é", "冷钱包", "👨\u200d👩", strings.Repeat("é", 255)}
	for _, name := range good {
		a.saves(c, name, c.outside())
	}
	var names []string
	for _, m := range a.book(nil).members {
		names = append(names, m.value.get("name").text)
	}
	x.same("names", names, good...)
	id := members(a.book(nil))[0]
	for _, name := range bad {
		x.failsNaming(a.wallet("/addressbook/rename", fields{"adbkid": number(id), "new_name": name}), "new_name")
	}
	x.succeeds(a.wallet("/addressbook/rename", fields{"adbkid": number(id), "new_name": "сейф №1"}))
	x.equal("name", a.book(nil).get(id).get("name").text, "сейф №1")
	if n := len(a.book(nil).members); n != len(good) {
		x.Errorf("%d entries, want %d", n, len(good))
	}
}

func sameNameAgain(x *exam) {
	x.covers("WAL-BOOK-4")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	a.saves(c, "one", to)
	a.saves(c, "one", to)
	x.same("entries", saved(a.book(nil)), "one:"+to)
	if n := len(a.transactions(nil).items); n != 2 {
		x.Errorf("%d withdrawals, want 2", n)
	}
}

func nameTaken(x *exam) {
	x.covers("WAL-BOOK-5")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	a.saves(c, "one", to)
	x.failsNaming(a.wallet("/withdraw", c.to(c.outside(), "0.02").with("adbk_name", "one")), "adbk_name")
	x.failsNaming(a.wallet("/withdraw", c.to(to, "0.02").with("adbk_name", "two")), "adbk_name")
	x.same("entries", saved(a.book(nil)), "one:"+to)
	a.owns(c.coin, "1", "0.0205", "0.9795")
	if n := len(a.transactions(nil).items); n != 1 {
		x.Errorf("%d withdrawals, want 1", n)
	}
}

func refusedSavesNothing(x *exam) {
	x.covers("WAL-BOOK-6")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	to := c.outside()
	x.rejects(a.wallet("/withdraw", c.to(to, "2").with("adbk_name", "one")), "INSUF_FUNDS")
	x.failed(a.wallet("/withdraw", c.to(to, "0.1").with("fee", "0.9").with("adbk_name", "one")))
	x.same("entries", saved(a.book(nil)))
	other := c.outside()
	a.saves(c, "one", other)
	x.same("entries", saved(a.book(nil)), "one:"+other)
}

func renameEntry(x *exam) {
	x.covers("WAL-BOOK-7")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	first, second := c.outside(), c.outside()
	a.saves(c, "one", first)
	a.saves(c, "two", second)
	ids := members(a.book(nil))
	x.golden(a.wallet("/addressbook/rename", fields{"adbkid": number(ids[0]), "new_name": "three"}).value, "wallet_success")
	x.same("entries", saved(a.book(nil)), "three:"+first, "two:"+second)
	x.failsNaming(a.wallet("/addressbook/rename", fields{"adbkid": number(ids[0]), "new_name": "two"}), "new_name")
	x.same("entries", saved(a.book(nil)), "three:"+first, "two:"+second)
	x.same("ids", members(a.book(nil)), ids...)
}

func deleteEntry(x *exam) {
	x.covers("WAL-BOOK-8")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	first, second := c.outside(), c.outside()
	a.saves(c, "one", first)
	a.saves(c, "two", second)
	id := members(a.book(nil))[0]
	x.golden(a.wallet("/addressbook/delete", fields{"adbkid": number(id)}).value, "wallet_success")
	x.same("entries", saved(a.book(nil)), "two:"+second)
	third := c.outside()
	a.saves(c, "one", third)
	x.same("entries", saved(a.book(nil)), "two:"+second, "one:"+third)
}

func unknownEntry(x *exam) {
	x.covers("WAL-BOOK-9")
	c := x.chain(byOutput...)
	c.pause()
	a, b := c.customer(), x.account()
	to := c.outside()
	a.saves(c, "one", to)
	id := members(a.book(nil))[0]
	unknown := b.wallet("/addressbook/delete", fields{"adbkid": number("4000000000")})
	x.failed(unknown)
	for _, id := range []string{id, "0", "4000000000"} {
		x.fails(b.wallet("/addressbook/delete", fields{"adbkid": number(id)}), unknown.value.get("error").text)
		x.fails(b.wallet("/addressbook/rename", fields{"adbkid": number(id), "new_name": "x"}), unknown.value.get("error").text)
	}
	x.same("entries", saved(a.book(nil)), "one:"+to)
}

func namesByNetwork(x *exam) {
	x.covers("WAL-BOOK-10")
	c, other := x.chain("BTC"), x.off("LTC")
	c.pause()
	a, b := x.account("1 BTC", "1 LTC"), x.account("1 BTC")
	first := c.outside()
	a.saves(c, "one", first)
	b.saves(c, "one", first)
	x.reserve("LTC")
	other.pause()
	second := other.outside()
	a.saves(other, "one", second)
	x.same("entries", saved(a.book(nil)), "one:"+first, "one:"+second)
	x.same("entries", saved(b.book(nil)), "one:"+first)
}

// litecoin is the sandbox's catalogue entry of network LTC.
const litecoin = `networks:
  - symbol: LTC
    name: Litecoin
    enabled: true
    assets:
      - {asset: LTC, precision: 8, confirms: 2, min_deposit: "0.001", min_withdrawal: "0.01", fee_min: "0.0001", fee_max: "0.01", enabled: %t}
`

// walletOffChecks take a network off the list.
var walletOffChecks = []check{carriageOff}

func TestWalletOff(t *testing.T) { examineAlone(t, walletOffChecks) }

func carriageOff(x *exam) {
	x.covers("WAL-OFF-1")
	c := x.chain("LTC")
	a := c.customer()
	address, _ := a.address(c)
	x.list(fmt.Sprintf(litecoin, false))
	x.Cleanup(func() { _ = x.listed(fmt.Sprintf(litecoin, true)) })
	x.same("networks", symbolsOf(x.wallet("/networks", fields{"asset": "LTC"}), "networks"))
	x.failed(a.wallet("/deposit", c.route()))
	x.failed(a.wallet("/withdraw", c.to(c.outside(), "0.1")))
	txid := c.pays(address, "", "0.25")
	c.mine(c.confirms)
	a.shows("txid", txid, "status", "DONE")
	a.owns("LTC", "1.25", "0", "1.25")
}
