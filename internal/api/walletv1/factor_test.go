package walletv1_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestSecondFactor withdraws with a session, with the case on and off, and with a key,
// which needs no code.
func TestSecondFactor(t *testing.T) {
	const email = "alice@example.com"
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	session := d.Session(email)
	f := d.out("BTC", "BTC", "0.5", "0.0001")
	d.taken(session, "/withdraw", f)
	who, err := d.Accounts.Authenticate(t.Context(), account.Secret(session), netip.IPv6Loopback())
	if err != nil {
		t.Fatal(err)
	}
	act := account.Act{Digest: account.Digest{1}}
	_, _ = d.Accounts.SetCases(t.Context(), who, account.CaseWithdrawal, 0, act)
	act.Code = d.Code(email)
	if _, err := d.Accounts.SetCases(t.Context(), who, account.CaseWithdrawal, 0, act); err != nil {
		t.Fatal(err)
	}
	before, _ := d.Box.Last(email)
	d.refused(session, "/withdraw", f.with("amount", "1000"), "INSUF_FUNDS")
	if last, _ := d.Box.Last(email); last != before {
		t.Error("a code was sent for a withdrawal that cannot be")
	}
	got := d.ask(session, "/withdraw", f)
	if got["success"] != false || got["need_2fa"] != true || got["provider_2fa"] != "EMAIL" ||
		got["error"] != "Enter the code from a***@example.com" {
		t.Fatalf("asked with %v", got)
	}
	code := d.Code(email)
	if m, _ := d.Box.Last(email); !strings.Contains(m.Text, "Withdraw 0.5 BTC over BTC to "+d.Outside("BTC", 1)+", fee 0.0001 BTC") {
		t.Errorf("the letter says %q", m.Text)
	}
	wrong := "0" + code[1:]
	if wrong == code {
		wrong = "1" + code[1:]
	}
	d.refused(session, "/withdraw", f.with("code_2fa", wrong), "The code is wrong")
	if got := d.ask(session, "/withdraw", f.with("amount", "0.6").with("code_2fa", code)); got["need_2fa"] != true {
		t.Errorf("a changed request is answered with %v", got)
	}
	d.taken(session, "/withdraw", f.with("code_2fa", code))
	if got := d.ask(session, "/withdraw", f.with("code_2fa", code)); got["need_2fa"] != true {
		t.Errorf("a code was good twice: %v", got)
	}
	d.taken(d.Alice, "/withdraw", f)
	f = f.with("client_id", "rent")
	first := d.taken(d.Alice, "/withdraw", f)
	d.refused(d.Alice, "/withdraw", f.with("amount", "1000").with("client_id", "poor"), "INSUF_FUNDS")
	d.Must(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 1, On: true})
	if again := d.taken(session, "/withdraw", f); again["xid"] != first["xid"] {
		t.Errorf("withdrawal %v came again as %v", first["xid"], again["xid"])
	}
	d.refused(session, "/withdraw", f.with("client_id", "another"), "ACCOUNT_FROZEN")
	if n := len(d.rows(d.Alice, fields{})); n != 4 {
		t.Errorf("there are %d withdrawals", n)
	}
}

// TestSavedAddressIsTold checks that the holder gets a letter when a withdrawal saves a
// new address.
func TestSavedAddressIsTold(t *testing.T) {
	const email = "alice@example.com"
	d := newDesk(t)
	d.Credit(1, "BTC", "10")
	f := d.out("BTC", "BTC", "0.5", "0.0001").with("adbk_name", "call 0900")
	d.taken(d.Alice, "/withdraw", f)
	m, _ := d.Box.Last(email)
	if want := "A withdrawal address was saved: " + d.Outside("BTC", 1) + ", network "; !strings.Contains(m.Text, want) {
		t.Fatalf("the letter says %q, want %q", m.Text, want)
	}
	if strings.Contains(m.Text, "0900") {
		t.Errorf("the letter bears a client's text: %q", m.Text)
	}
	d.Key(1, account.ScopeRead)
	made, _ := d.Box.Last(email)
	d.taken(d.Alice, "/withdraw", f)
	if last, _ := d.Box.Last(email); last != made {
		t.Errorf("an address that was saved before is told again: %q", last.Text)
	}
}
