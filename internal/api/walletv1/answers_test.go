package walletv1_test

import (
	"bufio"
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
	for _, part := range []struct {
		title string
		tell  func(d *desk, say func(path, body string))
	}{
		{"what is listed", tellListed},
		{"where to deposit", tellAddresses},
		{"deposits", tellDeposits},
		{"withdrawals", tellWithdrawals},
		{"inside the exchange", tellInternal},
		{"the address book", tellBook},
	} {
		fmt.Fprintf(&got, "# %s\n", part.title)
		part.tell(d, func(path, body string) {
			body = strings.NewReplacer("ALICE", d.Alice, "BOB", d.Bob).Replace(body)
			answer := d.post(path, body)
			body = strings.NewReplacer(d.Alice, "ALICE", d.Bob, "BOB").Replace(body)
			fmt.Fprintf(&got, "%s %s\n\t%s\n", path, body, strings.ReplaceAll(answer, "},{", "},\n\t\t{"))
		})
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
	lines := bufio.NewScanner(bytes.NewReader(want))
	for line := range strings.Lines(got.String()) {
		if line = strings.TrimSuffix(line, "\n"); !lines.Scan() || lines.Text() != line {
			t.Fatalf("got  %s\nwant %s", line, lines.Text())
		}
	}
	if lines.Scan() {
		t.Errorf("missing: %s", lines.Text())
	}
}

func tellListed(_ *desk, say func(path, body string)) {
	say("/assets", `{"symbols":["USDT","BTC","USDT"]}`)
	say("/assets", `{"search":"bit"}`)
	say("/assets", `{"symbols":["XYZ"]}`)
	say("/assets", `{"offset":1000}`)
	say("/networks", `{"asset":"USDT"}`)
	say("/networks", `{}`)
	say("/balances", `{"api_key":"ALICE","symbols":["BTC","ATOM"]}`)
	say("/balances_ex", `{"api_key":"ALICE","search":"tether"}`)
	say("/transactions", `{"api_key":"ALICE","offset":0}`)
	say("/addressbook", `{"api_key":"ALICE"}`)
}

func tellAddresses(d *desk, say func(path, body string)) {
	for _, route := range []string{`"asset":"BTC","network":"BTC"`, `"asset":"USDT","network":"ETH"`, `"asset":"ATOM","network":"ATOM"`} {
		say("/deposit", `{"api_key":"ALICE",`+route+`}`)
		say("/withdraw/info", `{"api_key":"ALICE",`+route+`}`)
	}
	_, _, n := d.Symbols("BTC", "BTC")
	n.Silent = true
	say("/deposit", `{"api_key":"BOB","asset":"BTC","network":"BTC"}`)
	n.Silent = false
	say("/deposit", `{"api_key":"BOB","asset":"BTC","network":"ETH"}`)
	atom := d.Own("ATOM", 1)
	say("/withdraw/validate", `{"api_key":"BOB","asset":"ATOM","network":"ATOM","address":"`+atom.Address+`","memo":"`+atom.Memo+`"}`)
	say("/withdraw/validate", `{"api_key":"BOB","asset":"BTC","network":"BTC","memo":"7"}`)
	say("/withdraw/validate", `{"api_key":"BOB","asset":"BTC","network":"BTC","address":"`+d.Outside("BTC", 1)+`"}`)
	say("/withdraw/validate", `{"api_key":"BOB","asset":"BTC","network":"BTC"}`)
}

func tellDeposits(d *desk, say func(path, body string)) {
	memo := d.Own("ATOM", 1).Memo
	d.Mine("BTC")
	d.Mine("BTC", d.Tx("BTC", 1, 1, "0.5", ""))
	d.Mine("ATOM", d.Tx("ATOM", 2, 1, "3", memo))
	say("/transactions", `{"api_key":"ALICE","offset":0}`)
	say("/balances", `{"api_key":"ALICE","symbols":["BTC","ATOM"]}`)
	d.Mine("BTC")
	say("/transactions", `{"api_key":"ALICE","offset":0,"status":"DONE"}`)
	say("/balances", `{"api_key":"ALICE","symbols":["BTC"]}`)
}

func tellWithdrawals(d *desk, say func(path, body string)) {
	d.Pause("ETH", true)
	d.Credit(1, "ETH", "5")
	say("/withdraw/info", `{"api_key":"ALICE","asset":"ETH","network":"ETH"}`)
	for _, amount := range []string{"1.5", ".25", "9"} {
		d.Now += bourse.Second
		say("/withdraw", `{"api_key":"ALICE","asset":"ETH","network":"ETH","address":"`+d.Outside("ETH", 1)+
			`","amount":"`+amount+`","fee":"0.0010","client_id":"c`+amount+`"}`)
	}
	say("/balances", `{"api_key":"ALICE","symbols":["ETH"]}`)
	say("/transactions", `{"api_key":"ALICE","offset":0,"asset":"ETH"}`)
	d.Pause("ETH", false)
	say("/transactions", `{"api_key":"ALICE","offset":0,"type":"WITHDRAWAL","status":"PROCESSING"}`)
	d.Sign("ETH", 3, 0, 7)
	say("/withdraw/cancel", `{"api_key":"ALICE","xid":3}`)
	say("/withdraw/cancel", `{"api_key":"ALICE","xid":"4"}`)
	say("/withdraw/cancel", `{"api_key":"BOB","xid":4}`)
	d.Accepted("ETH", 7)
	say("/transactions", `{"api_key":"ALICE","offset":0,"asset":"ETH"}`)
}

func tellInternal(d *desk, say func(path, body string)) {
	atom := d.Own("ATOM", 2)
	say("/withdraw", `{"api_key":"ALICE","asset":"ATOM","network":"ATOM","address":"`+atom.Address+`","memo":"`+atom.Memo+
		`","amount":"1","fee":"0"}`)
	say("/transactions", `{"api_key":"ALICE","offset":0,"asset":"ATOM","type":"WITHDRAWAL"}`)
	say("/transactions", `{"api_key":"BOB","offset":0}`)
	say("/withdraw", `{"api_key":"ALICE","asset":"ATOM","network":"ATOM","address":"`+atom.Address+`","amount":"1","fee":"0"}`)
}

func tellBook(d *desk, say func(path, body string)) {
	to := `"address":"` + d.Outside("ATOM", 1) + `","memo":"77","amount":"0.1","fee":"0.001"`
	save := func(name string) {
		say("/withdraw", `{"api_key":"ALICE","asset":"ATOM","network":"ATOM",`+to+`,"adbk_name":"`+name+`"}`)
	}
	save("other wallet")
	save("another name")
	save(`no\tname`)
	say("/addressbook", `{"api_key":"ALICE","network":"ATOM"}`)
	say("/addressbook", `{"api_key":"ALICE","network":"BTC"}`)
	say("/addressbook/rename", `{"api_key":"ALICE","adbkid":1,"new_name":"cold"}`)
	say("/addressbook", `{"api_key":"ALICE","asset":"ATOM"}`)
	say("/addressbook/delete", `{"api_key":"BOB","adbkid":1}`)
	say("/addressbook/delete", `{"api_key":"ALICE","adbkid":"1"}`)
	say("/addressbook", `{"api_key":"ALICE"}`)
}
