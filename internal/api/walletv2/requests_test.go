package walletv2_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller/tellertest"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
)

const post, get, remove, patch = http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodPatch

// TestSecondFactor withdraws and transfers with a session, with the case on and off, and
// with keys, which need no code.
func TestSecondFactor(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "100")
	plain := d.Session("alice@example.com")
	body := d.out("BTC", "BTC", "0.5", "")
	d.taken(plain, post, "/io/transactions", body)
	session := d.confirming("alice@example.com")
	for body, says := range map[string]string{
		body:                                    "Withdraw 0.5 BTC over BTC to " + d.Outside("BTC", 1) + ", fee ",
		gift("BTC", "bob@example.com", "1", ""): "Transfer 1 BTC to bob@example.com",

		strings.Replace(body, d.Outside("BTC", 1), d.Own("BTC", 2).Address, 1): "to " + d.Own("BTC", 2).Address,
	} {
		if msg := d.refused(511, "REQUIRE_2FA", session, post, "/io/transactions", body); !strings.Contains(msg, "@example.com") {
			t.Errorf("the message is %q", msg)
		}
		code := d.Code("alice@example.com")
		if m, _ := d.Box.Last("alice@example.com"); !strings.Contains(m.Text, says) {
			t.Errorf("the letter says %q, want %q", m.Text, says)
		}
		with := strings.TrimSuffix(body, "}") + `,"code2FA":"` + code + `"}`
		wrong := strings.TrimSuffix(body, "}") + `,"code2FA":"` + otherCode(code) + `"}`
		changed := strings.Replace(with, `"amount":"`, `"amount":"2`, 1)
		d.refused(403, "INVALID_2FA", session, post, "/io/transactions", wrong)
		d.refused(511, "REQUIRE_2FA", session, post, "/io/transactions", changed)
		d.taken(session, post, "/io/transactions", with)
		d.refused(511, "REQUIRE_2FA", session, post, "/io/transactions", with) // a code is valid once
		d.taken(d.Alice, post, "/io/transactions", body)
	}
	letters := d.Code("alice@example.com")
	for body, code := range map[string]string{
		d.out("BTC", "BTC", "1000", ""):                             "INSUF_BALANCE",
		d.out("BTC", "BTC", "0.00001", ""):                          "AMOUNT_OUT_OF_RANGE",
		d.out("BTC", "BTC", "1", `,"fee":"0.1"`):                    "FEE_OUT_OF_RANGE",
		d.out("ETH", "BTC", "1", ""):                                "INVALID_NETWORK",
		strings.Replace(body, d.Outside("BTC", 1), "nowhere", 1):    "INVALID_ADDRESS",
		gift("BTC", "bob@example.com", "1000", ""):                  "INSUF_BALANCE",
		gift("BTC", "nobody@example.com", "1", ""):                  "INVALID_ADDRESS",
		d.out("BTC", "BTC", "340282366920938463463.3746074317", ""): "VALIDATION_ERROR",
		d.out("BTC", "BTC", "1", `,"code2FA":"12345"`):              "VALIDATION_ERROR",
	} {
		status := 406
		if code == "VALIDATION_ERROR" {
			status = 400
		}
		d.refused(status, code, session, post, "/io/transactions", body)
	}
	if d.Code("alice@example.com") != letters {
		t.Error("a code was sent for a request that cannot be")
	}
	d.Must(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 1, On: true})
	d.refused(403, "ACCOUNT_INACTIVE", session, post, "/io/transactions", body)
}

// TestAllOfItOnce sends the whole balance, then repeats the request: the first answer is
// repeated, with a second factor or without, and a new request is refused.
func TestAllOfItOnce(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "1")
	session := d.confirming("alice@example.com")
	const key = "Idempotency-Key: all"
	body := gift("BTC", "bob@example.com", "1", `,"memo":"all of it"`)
	d.refused(511, "REQUIRE_2FA", session, post, "/io/transactions", body, key)
	with := strings.TrimSuffix(body, "}") + `,"code2FA":"` + d.Code("alice@example.com") + `"}`
	first := d.taken(session, post, "/io/transactions", with, key)
	for _, again := range []string{body, with} {
		if got := d.taken(session, post, "/io/transactions", again, key); got["xid"] != first["xid"] || got["memo"] != "all of it" {
			t.Errorf("%s came again as %v, was %v", again, got, first)
		}
	}
	d.refused(406, "INSUF_BALANCE", session, post, "/io/transactions", body, "Idempotency-Key: another")
	d.refused(409, "CONFLICT", session, post, "/io/transactions", gift("BTC", "bob@example.com", "1.0", ""), key)
	d.Credit(1, "BTC", "1")
	d.refused(511, "REQUIRE_2FA", session, post, "/io/transactions", body, "Idempotency-Key: another")
}

func otherCode(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

// TestHeldAfterANewPassword checks that withdrawals and transfers of sessions and keys
// wait after a change of the ways into the account.
func TestHeldAfterANewPassword(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	d.Session("alice@example.com")
	if err := d.Accounts.ForgotPassword(t.Context(), "alice@example.com", account.Visit{}); err != nil {
		t.Fatal(err)
	}
	if err := d.Accounts.ResetPassword(t.Context(), "alice@example.com", d.Code("alice@example.com"), "another one", account.Visit{}); err != nil {
		t.Fatal(err)
	}
	d.refused(403, "INVALID_KEY", d.Alice, get, "/balances", "")
	d.Alice = d.Key(1, account.ScopeRead|account.ScopeWithdraw)
	for _, body := range []string{d.out("BTC", "BTC", "1", ""), gift("BTC", "bob@example.com", "1", "")} {
		row := d.taken(d.Alice, post, "/io/transactions", body)
		if row["status"] != "PENDING" || row["delayed"] != true {
			t.Errorf("it is %v", row)
		}
	}
	info := d.taken(d.Alice, get, "/io/withdrawal/BTC/info/BTC", "")
	if list := info["warnings"].([]any); len(list) != 1 {
		t.Errorf("warned with %v", list)
	}
	d.Now += bourse.Time(tellertest.Hold.Microseconds())
	d.Must(bourse.Command{Kind: bourse.CommandTick})
	d.Must(bourse.Command{Kind: bourse.CommandContinue})
	var statuses []string
	for _, row := range d.taken(d.Alice, get, "/io/transactions", "")["transactions"].([]any) {
		statuses = append(statuses, row.(object)["status"].(string))
	}
	if want := []string{"DONE", "PROCESSING"}; !slices.Equal(statuses, want) {
		t.Errorf("then they are %v, want %v", statuses, want)
	}
}

// TestIdempotencyKey repeats requests, changed, concurrently, and after a lost answer.
func TestIdempotencyKey(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	const key = "Idempotency-Key: rent-1"
	body := d.out("BTC", "BTC", "1", `,"adbkSaveName":"Landlord"`)
	first := d.taken(d.Alice, post, "/io/transactions", body, key)
	again := d.taken(d.Alice, post, "/io/transactions", " "+body, key)
	if first["xid"] != again["xid"] {
		t.Errorf("transaction %v came again as %v", first["xid"], again["xid"])
	}
	for _, other := range []string{
		strings.Replace(body, `"1"`, `"1.0"`, 1), strings.Replace(body, "Landlord", "Another", 1), gift("BTC", "bob@example.com", "1", ""),
	} {
		if a := d.ask(d.Alice, post, "/io/transactions", other, key); a.status != http.StatusConflict {
			t.Errorf("%s: %d %s", other, a.status, a.body)
		}
	}
	present := gift("BTC", "bob@example.com", "1", `,"memo":"hi"`)
	d.Unknown = true
	d.refused(504, "TIMEOUT", d.Alice, post, "/io/transactions", present, "Idempotency-Key: gift")
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() { d.taken(d.Alice, post, "/io/transactions", present, "Idempotency-Key: gift") })
	}
	asking.Wait()
	if n := len(d.taken(d.Alice, get, "/io/transactions", "")["transactions"].([]any)); n != 2 {
		t.Errorf("there are %d transactions", n)
	}
	d.refused(406, "INSUF_BALANCE", d.Alice, post, "/io/transactions", gift("BTC", "bob@example.com", "100", ""), "Idempotency-Key: poor")
	d.Credit(1, "BTC", "1000")
	d.refused(406, "INSUF_BALANCE", d.Alice, post, "/io/transactions", gift("BTC", "bob@example.com", "100", ""), "Idempotency-Key: poor")
	d.refused(400, "VALIDATION_ERROR", d.Alice, post, "/io/transactions", present, "Idempotency-Key: a b")
}

// TestTransferAfterAnAddressMoved repeats a transfer whose first answer was lost, after its
// recipient took another address: it gets the first transaction and is not charged as a probe.
func TestTransferAfterAnAddressMoved(t *testing.T) {
	d := &desk{Desk: tellertest.New(t)}
	d.limits = api.NewLimiter(api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 100, Burst: 500}}}, d.Clock)
	d.serve(prefix, d.Teller())
	d.Credit(1, "BTC", "10")
	const key = "Idempotency-Key: gift"
	present := gift("BTC", "bob@example.com", "1", "")
	d.Unknown = true
	d.refused(504, "TIMEOUT", d.Alice, post, "/io/transactions", present, key)

	d.Move("bob@example.com", "robert@example.com")
	for range 3 {
		if row := d.taken(d.Alice, post, "/io/transactions", present, key); row["xid"] != 1.0 {
			t.Errorf("it came again as %v", row)
		}
	}
	d.refused(409, "CONFLICT", d.Alice, post, "/io/transactions", gift("BTC", "bob@example.com", "2", ""), key)
	d.refused(406, "INVALID_ADDRESS", d.Alice, post, "/io/transactions", present, "Idempotency-Key: new")
	d.refused(429, "RATE_LIMIT", d.Alice, post, "/io/transactions", present, "Idempotency-Key: newer")
}

// TestForeignIDsLeakNothing compares the answers for all kinds of other accounts' ids.
func TestForeignIDsLeakNothing(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	d.taken(d.Alice, post, "/io/transactions", d.out("BTC", "BTC", "0.1", ""))
	d.taken(d.Alice, post, "/io/transactions", gift("BTC", "bob@example.com", "1", ""))
	d.Mine("ETH", d.Tx("ETH", 1, 1, "1", ""))
	said := map[string]bool{}
	for _, xid := range []int{1, 2, 4} {
		for _, method := range []string{get, remove} {
			a := d.ask(d.Bob, method, fmt.Sprint("/io/transactions/", xid), "")
			said[fmt.Sprint(a.status, a.body)] = true
		}
	}
	if len(said) != 1 {
		t.Errorf("of foreign ids is said %v", said)
	}
	for _, path := range []string{"/io/transactions/5", "/io/transactions/0", "/io/transactions/-1", "/io/transactions/9223372036854775808", "/io/transactions/x", "/addressbook/4294967297"} {
		d.refused(404, "NOT_FOUND", d.Bob, get, path, "")
	}
}

// TestPagesUnderInserts reads both kinds of pages while rows are added: by cursor each
// row appears once, by offset rows repeat.
func TestPagesUnderInserts(t *testing.T) {
	d := newDesk(t)
	for range 25 {
		d.Credit(1, "BTC", "1")
	}
	d.Follow()
	var seen []float64
	path := "/ledger?limit=4"
	for {
		page := d.taken(d.Alice, get, path, "")
		for _, e := range page["entries"].([]any) {
			seen = append(seen, e.(object)["seq"].(float64))
		}
		d.Credit(1, "BTC", "1")
		d.Follow()
		cursor, more := page["cursor"].(float64)
		if !more {
			break
		}
		path = fmt.Sprintf("/ledger?limit=4&cursor=%.0f", cursor)
	}
	if len(seen) != 25 || !slices.IsSortedFunc(seen, func(a, b float64) int { return int(b - a) }) {
		t.Errorf("walked %v", seen)
	}
	add := func() { d.taken(d.Alice, post, "/io/transactions", gift("BTC", "bob@example.com", "0.01", "")) }
	for range 9 {
		add()
	}
	found := map[float64]int{}
	for offset, more := 0, true; more; offset += 4 {
		page := d.taken(d.Alice, get, fmt.Sprintf("/io/transactions?limit=4&offset=%d", offset), "")
		more = page["more"].(bool)
		for _, row := range page["transactions"].([]any) {
			found[row.(object)["xid"].(float64)]++
		}
		add()
	}
	for xid := 1.0; xid <= 17; xid += 2 { // the other account has the even ones
		if found[xid] == 0 {
			t.Errorf("transaction %v is missing", xid)
		}
	}
}

// TestLedgerAsCSV follows the header Next-Cursor.
func TestLedgerAsCSV(t *testing.T) {
	d := newDesk(t)
	for range 5 {
		d.Credit(1, "BTC", "1.50")
	}
	d.Follow()
	lines, path := 0, "/ledger?limit=2"
	for path != "" {
		a := d.ask(d.Alice, get, path, "", "Accept: text/html, text/csv;q=0.9")
		rows := strings.Split(strings.TrimSuffix(a.body, "\r\n"), "\r\n")
		if a.status != 200 || a.header.Get("Content-Type") != "text/csv; charset=utf-8" || rows[0] != "seq,time,asset,delta,balance,kind,order,trade,xid" {
			t.Fatalf("%d %s %s", a.status, a.header, a.body)
		}
		lines += len(rows) - 1
		next := a.header.Get("Next-Cursor")
		if path = ""; next != "" {
			path = "/ledger?limit=2&cursor=" + next
		}
	}
	if lines != 5 {
		t.Errorf("%d lines", lines)
	}
	if a := d.ask(d.Alice, get, "/ledger?format=json", "", "Accept: text/csv"); a.header.Get("Content-Type") != "application/json" {
		t.Errorf("the field does not decide: %s", a.header)
	}
}

// TestStatusesOfWalletEndpoints provokes the statuses that no other test does.
func TestStatusesOfWalletEndpoints(t *testing.T) {
	d := newDesk(t)
	d.refused(404, "INVALID_ENDPOINT", d.Alice, get, "/io", "")
	d.refused(405, "METHOD_NOT_ALLOWED", d.Alice, post, "/assets", "")
	d.refused(406, "LIMIT_OUT_OF_RANGE", d.Alice, get, "/assets?limit=501", "")
	d.refused(400, "VALIDATION_ERROR", d.Alice, get, "/assets?limit=0", "")
	d.refused(400, "VALIDATION_ERROR", d.Alice, get, "/balances?orderBy=age", "")
	d.refused(400, "VALIDATION_ERROR", d.Alice, get, "/balances?orderDir=asc", "")
	d.refused(400, "VALIDATION_ERROR", d.Alice, get, "/io/transactions?type=DEPOSIT,OTHER", "")
	d.refused(400, "VALIDATION_ERROR", d.Alice, get, "/io/transactions?status=", "")
	d.refused(404, "NOT_FOUND", d.Alice, get, "/io/transactions?asset=XYZ", "")
	d.refused(400, "MISSING_DATA", d.Alice, post, "/io/transactions", `{"type":"WITHDRAWAL","asset":"BTC","address":"x","amount":"1"}`)
	d.refused(400, "MISSING_DATA", d.Alice, post, "/io/transactions", `{}`)
	d.refused(400, "VALIDATION_ERROR", d.Alice, post, "/io/transactions", `{"type":"DEPOSIT","asset":"BTC","address":"x","amount":"1"}`)
	d.refused(400, "VALIDATION_ERROR", d.Alice, post, "/io/transactions", gift("BTC", "bob@example.com", "1", `,"memo":"a\nb"`))
	d.Credit(1, "LTC", "1")
	d.taken(d.Alice, post, "/io/transactions", d.out("LTC", "LTC", "0.5", `,"adbkSaveName":"one"`))
	d.refused(400, "MISSING_DATA", d.Alice, patch, "/addressbook/1", `{}`)
	d.refused(400, "VALIDATION_ERROR", d.Alice, patch, "/addressbook/1", `{"name":"a\tb"}`)
	eth := *d.View.Catalogue().Asset("ETH")
	eth.Enabled = false
	d.Must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &eth})
	d.refused(403, "FORBIDDEN", d.Alice, get, "/assets/ETH", "")
	d.refused(403, "FORBIDDEN", d.Alice, get, "/io/deposit/ETH/ETH", "")
	d.refused(403, "FORBIDDEN", d.Alice, post, "/io/transactions", gift("ETH", "bob@example.com", "1", ""))
	d.taken(d.Alice, get, "/balances/ETH", "")
	if list := d.taken(d.Alice, get, "/assets?q=eth", "")["assets"].([]any); len(list) != 1 { // USDT is Tether
		t.Errorf("listed are %v", list)
	}
	d.Now += bourse.Second
	d.Credit(1, "BTC", "1") // the ledger's store does not have this credit yet
	if msg := d.refused(429, "RATE_LIMIT", d.Alice, get, "/ledger", ""); !strings.Contains(msg, "commands behind") {
		t.Errorf("the lag is told as %q", msg)
	}
}

// TestTakenAndNotShown has a history without the new transaction: a request that
// succeeded must not look repeatable.
func TestTakenAndNotShown(t *testing.T) {
	d := newDesk(t)
	d.Credit(1, "BTC", "1")
	blind := d.Teller()
	blind.History = history.NewReader(historytest.NewMemory(), history.NewTail(1), d.View)
	d.serve(prefix+"/blind", blind)
	msg := d.refused(504, "TIMEOUT", d.Alice, post, "/blind/io/transactions", gift("BTC", "bob@example.com", "1", ""))
	if !strings.Contains(msg, "transaction 1 ") {
		t.Errorf("which transaction was taken is told as %q", msg)
	}
	if b := d.taken(d.Bob, get, "/balances/BTC", ""); b["total"] != "1" {
		t.Errorf("the receiver has %v", b)
	}
}

// TestUnknownAddressesWeigh checks that a transfer to an unknown address uses up the
// account's orders for seconds.
func TestUnknownAddressesWeigh(t *testing.T) {
	d := &desk{Desk: tellertest.New(t)}
	d.limits = api.NewLimiter(api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 100, Burst: 500}}}, d.Clock)
	d.serve(prefix, d.Teller())
	for range 20 {
		d.refused(406, "INSUF_BALANCE", d.Alice, http.MethodPost, "/io/transactions", gift("BTC", "bob@example.com", "1000", ""))
	}
	d.refused(406, "INVALID_ADDRESS", d.Alice, http.MethodPost, "/io/transactions", gift("BTC", "nobody@example.com", "1", ""))
	d.refused(429, "RATE_LIMIT", d.Alice, http.MethodPost, "/io/transactions", gift("BTC", "nobody@example.org", "1", ""))
	d.refused(406, "INSUF_BALANCE", d.Bob, http.MethodPost, "/io/transactions", gift("BTC", "alice@example.com", "1000", ""))
}
