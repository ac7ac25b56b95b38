package walletv1_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestWhatIsRefusedHoldsNothing requests impossible withdrawals.
func TestWhatIsRefusedHoldsNothing(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "1")
	d.Credit(1, "ATOM", "1")
	btc := d.out("BTC", "BTC", "0.1", "0.0001")
	atom := d.out("ATOM", "ATOM", "0.1", "0.001")
	shared := d.Own("ATOM", 1).Address
	address := btc["address"].(string)
	for _, c := range []struct {
		request fields
		names   string
	}{
		{btc.with("asset", "XYZ"), "asset: unknown asset"},
		{btc.with("network", "XYZ"), "network: unknown network"},
		{btc.with("network", "ETH"), "network: ETH does not carry BTC"},
		{btc.with("address", ""), "address"},
		{btc.with("address", "x"), "address"},
		{btc.with("address", address[:len(address)-1]), "address"},
		{btc.with("address", address+"q"), "address"},
		{btc.with("address", d.Outside("LTC", 1)), "address"},
		{btc.with("address", d.Outside("ETH", 1)), "address"},
		{btc.with("address", d.Own("BTC", chain.IndexHot).Address), "address"},
		{btc.with("address", d.Own("BTC", chain.IndexChange).Address), "address"},
		{btc.with("memo", "1"), "memo"},
		{atom.with("memo", strings.Repeat("x", bourse.MaxMemo+1)), "memo: memo is longer than 256 bytes"},
		{atom.with("memo", strings.Repeat("x", 1000)), "memo"},
		{atom.with("address", shared), "address"},
		{atom.with("address", shared).with("memo", "unknown"), "address"},
		{btc.with("amount", "0"), "amount"},
		{btc.with("amount", "-1"), "amount"},
		{btc.with("amount", "0.123456789"), "amount"},
		{btc.with("amount", "0.00001"), "amount"},
		{btc.with("amount", strings.Repeat("9", 39)), "amount"},
		{btc.with("fee", "0.000000001"), "fee"},
		{btc.with("fee", "0.000009"), "fee"},
		{btc.with("fee", "0.0011"), "fee"},
		{btc.with("amount", "1"), "INSUF_FUNDS"},
		{btc.with("adbk_name", ""), "adbk_name"},
		{btc.with("adbk_name", "two\nlines"), "adbk_name"},
		{btc.with("adbk_name", strings.Repeat("n", 256)), "adbk_name"},
		{btc.with("client_id", "a b"), "client_id"},
		{btc.with("address", "x").with("amount", 1), "amount: must be a string"},
	} {
		d.refused(d.Alice, "/withdraw", c.request, c.names)
	}
	for name := range btc {
		d.refused(d.Alice, "/withdraw", btc.with(name, nil), "Missing data: "+name)
	}
	if got := d.rows(d.Alice, fields{}); len(got) != 0 {
		t.Errorf("transactions: %v", got)
	}
	for _, symbol := range []bourse.Symbol{"BTC", "ATOM"} {
		a := d.View.Catalogue().Asset(symbol)
		if b := d.View.Balance(1, a.ID); !b.Held.IsZero() || b.Available != d.Units("1", a) {
			t.Errorf("%s: %+v", symbol, b)
		}
	}
	d.taken(d.Alice, "/withdraw", btc.with("memo", "").with("amount", "0.9999").with("fee", ".00010000"))
	d.taken(d.Alice, "/withdraw", atom)
}

func TestScopes(t *testing.T) {
	d := newDesk(t)
	reader, drawer := d.Key(1, account.ScopeRead), d.Key(1, account.ScopeWithdraw)
	d.Credit(1, "BTC", "1")
	for path, f := range map[string]fields{
		"/withdraw": d.out("BTC", "BTC", "0.1", "0.0001"), "/withdraw/cancel": {"xid": 1},
		"/addressbook/rename": {"adbkid": 1, "new_name": "n"}, "/addressbook/delete": {"adbkid": 1},
	} {
		d.refused(reader, path, f, "scope withdraw")
		d.refused("", path, f, "Unauthorized")
	}
	for path, f := range map[string]fields{
		"/balances": {}, "/balances_ex": {}, "/transactions": {"offset": 0}, "/addressbook": {},
		"/deposit": {"asset": "BTC", "network": "BTC"}, "/withdraw/info": {"asset": "BTC", "network": "BTC"},
		"/withdraw/validate": {"asset": "BTC", "network": "BTC", "address": "x"},
	} {
		d.refused(drawer, path, f, "scope read")
		d.taken(reader, path, f)
	}
}

// TestDisabled checks that disabled assets and networks are hidden and take no requests;
// earlier withdrawals can be canceled.
func TestDisabled(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "LTC", "1")
	d.Pause("LTC", true)
	out := d.out("LTC", "LTC", "0.1", "0.001")
	id := d.taken(d.Alice, "/withdraw", out)
	ltc := *d.View.Catalogue().Asset("LTC")
	ltc.Enabled = false
	d.Must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &ltc})
	d.refused(d.Alice, "/withdraw", out, "WITHDRAWALS_CLOSED")
	route := fields{"asset": "LTC", "network": "LTC"}
	d.refused(d.Alice, "/deposit", route, "asset: unknown")
	d.refused(d.Alice, "/withdraw/info", route, "asset: unknown")
	d.refused(d.Alice, "/networks", fields{"asset": "LTC"}, "asset: unknown")
	if got := d.taken(d.Alice, "/assets", fields{"symbols": []string{"LTC"}})["assets"].(map[string]any); len(got) != 0 {
		t.Errorf("assets: %v", got)
	}
	if got := d.taken(d.Alice, "/balances", fields{"symbols": []string{"LTC"}})["balances"].(map[string]any); len(got) != 1 {
		t.Errorf("balances: %v", got)
	}
	d.taken(d.Alice, "/withdraw/cancel", fields{"xid": id["xid"]})
	if got := d.rows(d.Alice, fields{"asset": "LTC", "status": "CANCELED"}); len(got) != 1 {
		t.Errorf("canceled: %v", got)
	}
}

// TestAddressBook checks that names and addresses of an account and network correspond
// one to one, and that a refused request saves nothing.
func TestAddressBook(t *testing.T) {
	d := newDesk(t)
	for _, id := range []bourse.AccountID{1, 2} {
		d.Credit(id, "BTC", "10")
		d.Credit(id, "LTC", "10")
	}
	saved := d.out("BTC", "BTC", "0.1", "0.0001").with("adbk_name", "Cold 1")
	d.taken(d.Alice, "/withdraw", saved)
	other := saved.with("address", d.Outside("BTC", 2))
	d.refused(d.Alice, "/withdraw", other, "adbk_name: the name is used")
	d.refused(d.Alice, "/withdraw", saved.with("adbk_name", "Cold 2"), "adbk_name: the address is saved")
	d.taken(d.Alice, "/withdraw", saved)
	d.refused(d.Alice, "/withdraw", other.with("adbk_name", "Cold 2").with("amount", "100"), "INSUF_FUNDS")
	d.wantBook(d.Alice, "1 Cold 1")
	d.taken(d.Alice, "/withdraw", d.out("LTC", "LTC", "0.1", "0.001").with("adbk_name", "Cold 1"))
	d.taken(d.Bob, "/withdraw", other)
	d.taken(d.Alice, "/withdraw", other.with("adbk_name", "Cold 2"))
	d.wantBook(d.Alice, "1 Cold 1, 2 Cold 1, 4 Cold 2")
	d.wantBook(d.Bob, "3 Cold 1")

	rename := fields{"adbkid": 4, "new_name": "Cold 1"}
	d.refused(d.Alice, "/addressbook/rename", rename, "new_name: the name is used")
	d.refused(d.Alice, "/addressbook/rename", rename.with("new_name", "\t"), "new_name: want")
	d.refused(d.Bob, "/addressbook/rename", rename.with("new_name", "x"), "Address not found")
	d.taken(d.Alice, "/addressbook/rename", rename.with("new_name", "Cold 2"))
	d.taken(d.Alice, "/addressbook/rename", rename.with("new_name", "Wärmer, «_»"))
	d.taken(d.Alice, "/addressbook/delete", fields{"adbkid": 1})
	for _, bad := range []any{1, 0, 1 << 40, "7"} {
		d.refused(d.Alice, "/addressbook/delete", fields{"adbkid": bad}, "Address not found")
	}
	d.taken(d.Alice, "/withdraw", d.out("BTC", "BTC", "0.1", "0.0001").with("adbk_name", "Cold 2"))
	d.wantBook(d.Alice, "2 Cold 1, 4 Wärmer, «_», 5 Cold 2")
}

// wantBook checks an address book by id.
func (d *desk) wantBook(key, want string) {
	d.Helper()
	book := d.taken(key, "/addressbook", fields{})["addressbook"].(map[string]any)
	var got []string
	for id := range 20 {
		if entry, ok := book[fmt.Sprint(id)].(map[string]any); ok {
			got = append(got, fmt.Sprint(id, " ", entry["name"]))
		}
	}
	if strings.Join(got, ", ") != want {
		d.Errorf("address book %v, want %s", got, want)
	}
}

// TestComingAgain checks that a repeated request gets its first xid, saves its address
// once and withdraws once, even if the first answer was lost.
func TestComingAgain(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	request := d.out("BTC", "BTC", "1", "0.0001").with("client_id", "once").with("adbk_name", "Cold")
	d.Unknown = true
	d.refused(d.Alice, "/withdraw", request, "Outcome unknown")
	for range 2 {
		if got := xid(d.taken(d.Alice, "/withdraw", request)); got != 1 {
			t.Errorf("xid %d", got)
		}
	}
	d.wantBook(d.Alice, "1 Cold")
	d.refused(d.Alice, "/withdraw", request.with("amount", "2"), "DUPLICATE_CLIENT_ID")
	if got := d.rows(d.Alice, fields{}); len(got) != 1 {
		t.Errorf("transactions: %v", got)
	}
}

// TestTransferAfterAnAddressMoved repeats a transfer whose first answer was lost, after its
// recipient took another address and after a third account took theirs: it gets the first
// xid. A new request gets what the address deserves now.
func TestTransferAfterAnAddressMoved(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	request := fields{"asset": "BTC", "amount": "1", "email": "bob@example.com", "memo": "rent", "client_id": "once"}
	d.Unknown = true
	d.refused(d.Alice, "/transfer", request, "Outcome unknown")
	again := func(when string) {
		t.Helper()
		if got := d.ask(d.Alice, "/transfer", request); got["success"] != true || xid(got) != 1 {
			t.Errorf("%s it came again as %v", when, got)
		}
	}

	d.Move("bob@example.com", "robert@example.com")
	again("after the recipient moved")
	d.refused(d.Alice, "/transfer", request.with("client_id", "new"), "email: no account has this e-mail address")
	d.refused(d.Alice, "/transfer", request.with("client_id", nil), "email: no account has this e-mail address")
	d.refused(d.Alice, "/transfer", request.with("amount", "2"), "DUPLICATE_CLIENT_ID")

	d.Move("alice@example.com", "bob@example.com")
	d.Alice = d.Key(1, account.ScopeRead|account.ScopeWithdraw)
	again("after the sender took the address")
	d.refused(d.Alice, "/transfer", request.with("client_id", "own"), "email: it is your own")
	if got := d.rows(d.Alice, fields{}); len(got) != 1 {
		t.Errorf("transactions: %v", got)
	}
}

// TestInternal checks that on a network without memos the address alone names the
// account, and that the offered fee is not charged.
func TestInternal(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "1")
	to := d.out("BTC", "BTC", "1", "0.001").with("address", d.Own("BTC", 2).Address)
	d.refused(d.Alice, "/withdraw", to.with("fee", "0.0011"), "fee: must be from 0 to 0.001")
	if id := xid(d.taken(d.Alice, "/withdraw", to)); id != 1 {
		t.Errorf("xid %d", id)
	}
	for key, want := range map[string]string{d.Alice: "0", d.Bob: "1"} {
		balances := d.taken(key, "/balances", fields{"symbols": []string{"BTC"}})["balances"].(map[string]any)
		if got := balances["BTC"].(map[string]any); got["total"] != want || got["avbl"] != want {
			t.Errorf("balance %v, want %s", got, want)
		}
	}
	d.refused(d.Alice, "/withdraw/cancel", fields{"xid": 1}, "Withdrawal already done")
	d.refused(d.Bob, "/withdraw/cancel", fields{"xid": 1}, "Withdrawal not found")
	d.refused(d.Bob, "/withdraw/cancel", fields{"xid": 2}, "Withdrawal not found")
}

// TestLongMemos takes memos of as many bytes as the chains of the Cosmos SDK do, in withdrawals, in the address book and in
// judgements, and under older rules of as many as programs that know those read.
func TestLongMemos(t *testing.T) {
	for rules, most := range map[uint32]int{bourse.RulesLongMemos - 1: bourse.MaxEarlyMemo, bourse.RulesLongMemos: bourse.MaxMemo} {
		d := newDesk(t)
		d.Must(bourse.Command{Kind: bourse.CommandSetRules, Rules: rules})
		d.Credit(1, "ATOM", "1")
		memo := strings.Repeat("m", most)
		out := d.out("ATOM", "ATOM", "0.1", "0.001").with("memo", memo).with("adbk_name", "far")
		judge := fields{"asset": "ATOM", "network": "ATOM", "address": out["address"], "memo": memo}
		if got := d.taken(d.Bob, "/withdraw/validate", judge); got["valid_memo"] != true {
			t.Errorf("rules %d: %v", rules, got)
		}
		if got := d.taken(d.Bob, "/withdraw/validate", judge.with("memo", memo+"m")); got["valid_memo"] != false {
			t.Errorf("rules %d, a byte more: %v", rules, got)
		}

		d.refused(d.Alice, "/withdraw", out.with("memo", memo+"m"), fmt.Sprintf("memo: memo is longer than %d bytes", most))
		d.taken(d.Alice, "/withdraw", out)
		if rows := d.rows(d.Alice, fields{}); len(rows) != 1 || rows[0]["memo"] != memo {
			t.Errorf("rules %d: %v", rules, rows)
		}
	}
}

// TestValidate judges addresses and memos.
func TestValidate(t *testing.T) {
	d := newDesk(t)
	atom, hot := d.Own("ATOM", 2), d.Own("BTC", chain.IndexHot)
	for _, c := range []struct {
		network, address, memo string
		want                   string
	}{
		{"BTC", d.Outside("BTC", 1), "", "true true false"},
		{"BTC", d.Own("BTC", 2).Address, "", "true true true"},
		{"BTC", d.Own("BTC", 2).Address, "7", "true false false"},
		{"BTC", hot.Address, "", "false true false"},
		{"BTC", d.Outside("LTC", 1), "", "false true false"},
		{"ATOM", d.Outside("ATOM", 1), "", "true true false"},
		{"ATOM", d.Outside("ATOM", 1), "anything", "true true false"},
		{"ATOM", atom.Address, atom.Memo, "true true true"},
		{"ATOM", atom.Address, atom.Memo + "9", "false false false"},
		{"ATOM", atom.Address, "", "false false false"},
	} {
		got := d.taken(d.Alice, "/withdraw/validate", fields{
			"asset": c.network, "network": c.network, "address": c.address, "memo": c.memo,
		})
		if s := fmt.Sprint(got["valid_address"], got["valid_memo"], got["internal"]); s != c.want {
			t.Errorf("%s %s %q: %s, want %s", c.network, c.address, c.memo, s, c.want)
		}
	}
}

// TestSavingTogether saves one address under many names, and many addresses under one
// name, concurrently: the book has one of each, and only the saved ones were withdrawn.
func TestSavingTogether(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	const many = 8
	var asking sync.WaitGroup
	for i := range many {
		for _, f := range []fields{
			d.out("BTC", "BTC", "0.01", "0.0001").with("adbk_name", fmt.Sprint("name ", i)),
			d.out("BTC", "BTC", "0.01", "0.0001").with("adbk_name", "shared").with("address", d.Outside("BTC", byte(10+i))),
		} {
			asking.Go(func() { d.ask(d.Alice, "/withdraw", f) })
		}
	}
	asking.Wait()
	book := d.taken(d.Alice, "/addressbook", fields{})["addressbook"].(map[string]any)
	if len(book) != 2 || len(d.rows(d.Alice, fields{})) != 2 {
		t.Errorf("entries %v, transactions %v", book, d.rows(d.Alice, fields{}))
	}
}
