package operatorv1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/history"
)

// TestAccountsAreFound finds accounts by the beginning of an address and by number, page by page.
func TestAccountsAreFound(t *testing.T) {
	e := newExchange(t)
	e.customer("bob@example.org")
	e.customer("alfred@example.org")
	e.customer("a%@example.org")
	viewer := e.staff(bourse.RoleViewer)[1]
	row := func(id int, email string) string {
		return fmt.Sprintf(`{"account":%d,"email":%q,"created":`, id, email)
	}

	viewer.wants("GET /accounts?search=AL", "", 200, row(1, "alice@example.org"))
	viewer.wants("GET /accounts?search=al", "", 200, row(3, "alfred@example.org"))
	viewer.wants("GET /accounts?search=al&after=1", "", 200, `{"accounts":[`+row(3, "alfred@example.org"))
	viewer.wants("GET /accounts?search=2", "", 200, `{"accounts":[`+row(2, "bob@example.org"))
	for _, none := range []string{"search=%25", "search=9", "search=0", "search=2&after=2", "search=al&after=3", "search=bob@example.orgs"} {
		viewer.wants("GET /accounts?"+none, "", 200, `{"accounts":[]}`)
	}
	viewer.wants("GET /accounts?search=a%25", "", 200, row(4, "a%@example.org"))
	viewer.wants("GET /accounts?limit=2", "", 200, `"next":2}`)
	viewer.wants("GET /accounts?limit=2&after=2", "", 200, `{"accounts":[`+row(3, "alfred@example.org"))
	if w := viewer.ask("GET /accounts?limit=2&after=2", ""); strings.Contains(w.Body.String(), "next") {
		t.Errorf("the last page has a next one: %s", w.Body)
	}
	for _, wrong := range []string{"limit=0x", "limit=201", "limit=-1", "search=99999999999", "after=x"} {
		viewer.wants("GET /accounts?"+wrong, "", 400, "")
	}
	viewer.wants("GET /accounts?search=al%00", "", 400, "search: must have no NUL")
}

// TestPastOfAnAccount reads an account's orders, ledger, transactions and sessions, page by page.
func TestPastOfAnAccount(t *testing.T) {
	e := newExchange(t)
	e.withdraw(3)
	e.place(1, 20)
	e.place(1, 30)
	viewer := e.staff(bourse.RoleViewer)[1]

	viewer.wants("GET /accounts/1/orders", "", 200, `{"orders":[{"obid":2,"pair":"ATOM/USDT",`)
	viewer.wants("GET /accounts/1/orders", "", 200, `"side":"SELL","type":"LIMIT","time_in_force":"GTC","price":"30","amount":"1","filled":"0","status":"OPEN"}`)
	viewer.wants("GET /accounts/1/orders?limit=1", "", 200, `"next":2}`)
	viewer.wants("GET /accounts/1/orders?limit=1&before=2", "", 200, `{"orders":[{"obid":1,`)
	viewer.wants("GET /accounts/1/transactions?limit=1", "", 200, `{"transactions":[{"xid":4,"kind":"withdrawal","asset":"ATOM","network":"ATOM",`+
		`"amount":"1","fee":"0.01","address":"cosmos12","memo":"m","status":"PENDING"`)
	viewer.wants("GET /accounts/1/transactions?before=2", "", 200, `{"transactions":[{"xid":1,"kind":"deposit"`)
	viewer.wants("GET /accounts/1/sessions", "", 200, `{"sessions":[]}`)
	e.follow()
	viewer.wants("GET /accounts/alice@example.org/ledger?limit=1", "", 200,
		`"asset":"ATOM","delta":"1000","balance":"1000","kind":"DEPOSIT","xid":1}`)
	for _, list := range []string{"orders", "ledger", "transactions"} {
		viewer.wants("GET /accounts/9/"+list, "", 404, "unknown account")
		viewer.wants("GET /accounts/1/"+list+"?limit=1000", "", 400, "limit")
	}
}

// TestRisksOfWithdrawals wants the queue to tell a new address, the age of an account, and a hold
// after a change of factors.
func TestRisksOfWithdrawals(t *testing.T) {
	e := newExchange(t)
	created := e.now.Seconds()
	e.now += bourse.Day
	e.withdraw(2)
	viewer := e.staff(bourse.RoleViewer)[1]
	viewer.wants("GET /withdrawals", "", 200, `"risk":{"new_address":true,"account_created":`+fmt.Sprint(created)+`}`)

	if err := e.Accounts.ResetFactor(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	changed, until := e.now.Seconds(), e.Accounts.HeldUntil(1).Seconds()
	viewer.wants("GET /withdrawals", "", 200, fmt.Sprintf(`"changed":%d,"change":"MFA_CHANGED","held_until":%d}`, changed, until))
	if until < changed+3*24*60*60 {
		t.Errorf("held until %d, at %d", until, changed)
	}
}

// TestWithdrawalsComeInPages wants each open withdrawal once, oldest first.
func TestWithdrawalsComeInPages(t *testing.T) {
	e := newExchange(t)
	first := e.withdraw(3)
	viewer := e.staff(bourse.RoleViewer)[1]
	for after := range bourse.WalletID(3) {
		w := viewer.ask(fmt.Sprintf("GET /withdrawals?limit=1&after=%d", first+after-1), "")
		body, next := w.Body.String(), fmt.Sprintf(`"next":%d}`, first+after)
		if w.Code != 200 || strings.Count(body, "xid") != 1 || !strings.Contains(body, fmt.Sprintf(`"xid":%d,`, first+after)) ||
			strings.HasSuffix(body, next) == (after == 2) {
			t.Errorf("the page after %d is %d %s", first+after-1, w.Code, body)
		}
	}
	viewer.wants(fmt.Sprintf("GET /withdrawals?after=%d", first+2), "", 200, `{"withdrawals":[]}`)
	for _, wrong := range []string{"limit=201", "limit=-1", "limit=x", "after=-1"} {
		viewer.wants("GET /withdrawals?"+wrong, "", 400, "")
	}
}

// TestRisksAreNotHidden wants the change of factors to be told after strangers failed to log in.
func TestRisksAreNotHidden(t *testing.T) {
	e := newExchange(t)
	e.withdraw(1)
	viewer := e.staff(bourse.RoleViewer)[1]
	if err := e.Accounts.ResetFactor(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		failed := account.Activity{Account: 1, Time: e.now, Kind: "LOGIN_FAILED"}
		if err := e.store.AddActivity(t.Context(), &failed, 10_000, 0); err != nil {
			t.Fatal(err)
		}
	}
	viewer.wants("GET /withdrawals", "", 200, `"change":"MFA_CHANGED"`)
}

// TestAnotherMemoIsANewAddress wants an address to be known with the memo that an earlier withdrawal had.
func TestAnotherMemoIsANewAddress(t *testing.T) {
	for memo, isNew := range map[string]bool{"m": false, "another's": true} {
		e := newExchange(t)
		first := e.withdraw(2)
		e.do(bourse.Command{Kind: bourse.CommandDecideWithdrawal, Wallet: &bourse.WalletCommand{ID: first + 1}})
		for i := range e.behind.Movements {
			if m := &e.behind.Movements[i]; m.ID == first+1 {
				m.Status, m.Address, m.Memo = bourse.WalletDone, "cosmos10", memo
			}
		}
		e.follow()
		e.History = history.NewReader(e.past, history.NewTail(1), e.View) // the tail has it as it was
		viewer := e.staff(bourse.RoleViewer)[1]
		viewer.wants("GET /withdrawals", "", 200, fmt.Sprintf(`"risk":{"new_address":%t,`, isNew))
	}
}
