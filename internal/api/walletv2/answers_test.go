package walletv2_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestAnswers compares the answers of all endpoints with testdata/answers.txt, byte by
// byte. REWRITE=1 rewrites the file.
func TestAnswers(t *testing.T) {
	const path = "testdata/answers.txt"
	d := newDesk(t)
	var got bytes.Buffer
	say := func(key, request, body string) {
		method, at, _ := strings.Cut(request, " ")
		secret := map[string]string{"alice": d.Alice, "bob": d.Bob}[key]
		a := d.ask(secret, method, at, body)
		fmt.Fprintf(&got, "%s: %s %s\n\t%d %s\n", key, request, body, a.status, strings.ReplaceAll(a.body, "},{", "},\n\t\t{"))
	}
	for _, part := range []struct {
		title string
		tell  func(d *desk, say func(key, request, body string))
	}{
		{"what is listed", tellListed},
		{"where to deposit, and what it costs", tellTerms},
		{"deposits", tellDeposits},
		{"withdrawals", tellWithdrawals},
		{"transfers", tellTransfers},
		{"the address book", tellBook},
		{"the ledger", tellLedger},
	} {
		fmt.Fprintf(&got, "# %s\n", part.title)
		part.tell(d, say)
	}
	if os.Getenv("REWRITE") == "1" {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(wanted) || wanted[i] != line {
			t.Fatalf("line %d:\ngot  %s\nwant %s", i+1, line, wanted[min(i, len(wanted)-1)])
		}
	}
	if n := strings.Count(got.String(), "\n"); n != len(wanted)-1 {
		t.Errorf("%d lines, want %d", n, len(wanted)-1)
	}
}

func tellListed(_ *desk, say func(key, request, body string)) {
	say("", "GET /assets?q=bit", "")
	say("", "GET /assets?orderBy=name&orderDir=DESC&limit=2", "")
	say("", "GET /assets/ETH", "")
	say("", "GET /assets/XYZ", "")
	say("", "GET /assets/eth", "")
	say("", "GET /io/networks?asset=USDT", "")
	say("", "GET /io/networks/ATOM", "")
	say("", "GET /io/fees?limit=1&offset=1", "")
	say("", "GET /io/fees/USDT", "")
	say("alice", "GET /balances?q=tether", "")
	say("alice", "GET /balances?nonZero", "")
	say("alice", "GET /balances/BTC", "")
	say("alice", "GET /io/transactions", "")
	say("alice", "GET /addressbook", "")
	say("alice", "GET /ledger", "")
}

func tellTerms(d *desk, say func(key, request, body string)) {
	say("alice", "GET /io/deposit/BTC/BTC", "")
	say("alice", "GET /io/deposit/ATOM/ATOM", "")
	say("alice", "GET /io/deposit/ETH/USDT", "")
	say("alice", "GET /io/deposit/BTC/ETH", "")
	say("alice", "GET /io/withdrawal/ETH/info/USDT", "")
	d.Pause("ATOM", true)
	say("alice", "GET /io/withdrawal/ATOM/info/ATOM", "")
	d.Pause("ATOM", false)
	atom := d.Own("ATOM", 1)
	say("bob", "GET /io/withdrawal/ATOM/validation?address="+atom.Address+"&memo="+atom.Memo, "")
	say("bob", "POST /io/withdrawal/BTC/validation", `{"address":"`+d.Outside("BTC", 1)+`"}`)
	say("bob", "POST /io/withdrawal/BTC/validation", `{"memo":"7"}`)
	say("bob", "POST /io/withdrawal/BTC/validation?memo=7", "")
	say("bob", "POST /io/withdrawal/BTC/validation", `{}`)
}

func tellDeposits(d *desk, say func(key, request, body string)) {
	memo := d.Own("ATOM", 1).Memo
	d.Mine("BTC")
	d.Mine("BTC", d.Tx("BTC", 1, 1, "0.5", ""))
	d.Mine("ATOM", d.Tx("ATOM", 2, 1, "3", memo))
	say("alice", "GET /io/transactions", "")
	d.Mine("BTC")
	say("alice", "GET /io/transactions?status=DONE", "")
	say("alice", "GET /io/transactions/1", "")
	say("bob", "GET /io/transactions/1", "")
	say("bob", "GET /io/transactions/99", "")
	say("alice", "DELETE /io/transactions/1", "")
}

func tellWithdrawals(d *desk, say func(key, request, body string)) {
	d.Pause("ETH", true)
	d.Credit(1, "ETH", "5")
	for _, amount := range []string{"1.5", ".25", "9", "0"} {
		d.Now += bourse.Second
		say("alice", "POST /io/transactions", d.out("ETH", "ETH", amount, ""))
	}
	say("alice", "POST /io/transactions", d.out("ETH", "ETH", "1", `,"fee":"7"`))
	say("alice", "GET /balances/ETH", "")
	say("alice", "GET /io/transactions?type=WITHDRAWAL&status=PENDING,PROCESSING&network=ETH&asset=ETH", "")
	d.Pause("ETH", false)
	d.Sign("ETH", 3, 0, 7)
	say("alice", "DELETE /io/transactions/3", "")
	say("alice", "DELETE /io/transactions/4", "")
	say("alice", "DELETE /io/transactions/4", "")
	say("bob", "DELETE /io/transactions/4", "")
	d.Accepted("ETH", 7)
	say("alice", "GET /io/transactions/3", "")
}

func tellTransfers(d *desk, say func(key, request, body string)) {
	say("alice", "POST /io/transactions", gift("BTC", "bob@example.com", "0.1", `,"memo":"for lunch, été"`))
	say("bob", "GET /io/transactions", "")
	say("alice", "DELETE /io/transactions/5", "")
	say("alice", "POST /io/transactions", gift("BTC", "nobody@example.com", "0.1", ""))
	say("alice", "POST /io/transactions", gift("BTC", "alice@example.com", "0.1", ""))
	say("alice", "POST /io/transactions", gift("BTC", "bob@example.com", "1000", ""))
	inside := d.Own("BTC", 2).Address
	say("alice", "POST /io/transactions", `{"type":"WITHDRAWAL","asset":"BTC","network":"BTC","address":"`+inside+`","amount":"0.1"}`)
	say("alice", "DELETE /io/transactions/7", "")
	say("bob", "GET /io/transactions?type=DEPOSIT", "")
}

func tellBook(d *desk, say func(key, request, body string)) {
	save := func(name string) {
		say("alice", "POST /io/transactions", d.out("ATOM", "ATOM", "0.1", `,"memo":"77","adbkSaveName":"`+name+`"`))
	}
	save("other wallet")
	save("another name")
	save(`no\tname`)
	say("alice", "GET /addressbook?q=WALL&network=ATOM", "")
	say("alice", "GET /addressbook?network=BTC", "")
	say("alice", "PATCH /addressbook/1", `{"name":"cold"}`)
	say("alice", "GET /addressbook/1", "")
	say("bob", "GET /addressbook/1", "")
	say("bob", "PATCH /addressbook/1", `{"name":"mine"}`)
	say("bob", "DELETE /addressbook/1", "")
	say("bob", "DELETE /addressbook/2", "")
	say("alice", "DELETE /addressbook/1", "")
	say("alice", "GET /addressbook/1", "")
}

func tellLedger(d *desk, say func(key, request, body string)) {
	d.Follow()
	say("alice", "GET /ledger?limit=4", "")
	say("alice", "GET /ledger?asset=ETH", "")
	say("bob", "GET /ledger?format=csv", "")
	say("bob", "GET /ledger?format=xml", "")
	say("bob", "GET /ledger?from=0&to=1600000000", "")
}
