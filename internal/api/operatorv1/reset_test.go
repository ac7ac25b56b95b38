package operatorv1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

const resetAlice = "POST /accounts/1/reset"

// TestResetsTakeTwoOwners gives an account another address: two owners do, its holder is told before
// and after, all keys end, and withdrawals wait for three days.
func TestResetsTakeTwoOwners(t *testing.T) {
	e := newExchange(t)
	e.customer("bob@example.org")
	staff := e.staff(bourse.RoleOwner, bourse.RoleOperator)
	ann, bob, cy := staff[0], staff[1], staff[2]
	if _, _, err := e.Accounts.CreateKey(t.Context(), 1, account.NewKey{Name: "a", Scopes: account.ScopeRead}); err != nil {
		t.Fatal(err)
	}

	cy.wants(resetAlice, `{"factors":true,"reason":"x"}`, 403, "it takes the role owner")
	ann.confirmed(resetAlice, `{"reason":"x"}`, 400, "")
	ann.confirmed(resetAlice, `{"email":"x","reason":"x"}`, 400, "")
	ann.confirmed(resetAlice, `{"email":"bob@example.org","reason":"x"}`, 409, "")
	ann.confirmed(resetAlice, `{"email":"ALICE@example.org","reason":"x"}`, 400, "")
	ann.confirmed("POST /accounts/9/reset", `{"factors":true,"reason":"x"}`, 404, "")
	if acts := e.View.Acts(); len(acts) != 0 {
		t.Fatalf("acts wait: %+v", acts)
	}

	reset := ann.waits(ann.confirmed(resetAlice, `{"factors":true,"email":"Alice@New.example","reason":"seen in person"}`, 200, ""))
	cy.wants("GET /acts", "", 200, `"command":"reset account=1 factors,email hold=72h`)
	cy.wants("GET /acts", "", 200, `"email":"alice@new.example"`)
	if m, _ := e.letters.Last("alice@example.org"); !strings.Contains(m.Text, "ordered a new address") ||
		!strings.Contains(m.Text, "the authenticator application, the passkeys, all sessions") {
		t.Errorf("the holder was told %q", m.Text)
	}
	for _, c := range e.journal {
		if strings.Contains(fmt.Sprintf("%+v %+v", c, c.Operators), "new.example") {
			t.Errorf("the journal has the address: %+v", c)
		}
	}
	ann.confirmed("POST /accounts/2/reset", `{"email":"alice@new.example","reason":"x"}`, 409, "") // it is reserved
	if who, _, err := e.Accounts.ByID(t.Context(), 1); err != nil || who.Email != "alice@example.org" || e.Accounts.HeldUntil(1) > e.now {
		t.Errorf("one owner reset %+v: %v", who, err)
	}

	e.meanwhile = func(cmd *bourse.Command) {
		if cmd.Kind == bourse.CommandApproveAct && e.locked != 1 {
			t.Error("a request of the holder's that has begun can come after the reset")
		}
	}
	bob.approves(reset, 200)
	e.meanwhile = nil
	if e.locked != 0 {
		t.Error("the holder stays locked")
	}
	if err := e.Accounts.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	who, found, err := e.Accounts.ByEmail(t.Context(), "alice@new.example")
	if err != nil || !found || who.ID != 1 {
		t.Errorf("found %+v: %v", who, err)
	}
	if keys, err := e.Accounts.LiveKeys(t.Context(), 1); err != nil || len(keys) != 0 {
		t.Errorf("keys live: %+v %v", keys, err)
	}
	if until := e.Accounts.HeldUntil(1); until < e.now+3*bourse.Day-bourse.Minute {
		t.Errorf("withdrawals are held until %v, at %v", until, e.now)
	}
	for _, to := range []string{"alice@example.org", "alice@new.example"} {
		if m, _ := e.letters.Last(to); !strings.Contains(m.Text, "It is done") || !strings.Contains(m.Text, "the passkeys") {
			t.Errorf("%s was told %q", to, m.Text)
		}
	}
	list, err := e.Accounts.Activity(t.Context(), 1, 0, 2)
	if err != nil || len(list) != 2 || list[0].Kind != "EMAIL_CHANGED" || list[1].Kind != "MFA_CHANGED" {
		t.Errorf("the account's activities are %+v: %v", list, err)
	}
	cy.wants("GET /log", "", 200, "of operator 1 and operator 2 done: reset account=1 factors,email")
	bob.approves(reset, 406) // it waits no more
}

// TestResetsOfOldRows refuses a reset of a row that its holder changed while it waited, and frees the
// address once the act is dropped.
func TestResetsOfOldRows(t *testing.T) {
	e := newExchange(t)
	e.customer("bob@example.org")
	staff := e.staff(bourse.RoleOwner)
	ann, bob := staff[0], staff[1]
	reset := ann.waits(ann.confirmed(resetAlice, `{"email":"new@example.org","reason":"by phone"}`, 200, ""))
	if err := e.Accounts.ResetFactor(t.Context(), 1); err != nil { // another change of the row
		t.Fatal(err)
	}
	if got := bob.approves(reset, 406); !strings.Contains(got, "WRONG_DIGEST") {
		t.Error(got)
	}
	if who, _, err := e.Accounts.ByID(t.Context(), 1); err != nil || who.Email != "alice@example.org" {
		t.Errorf("%+v %v", who, err)
	}

	const other = "POST /accounts/2/reset"
	ann.confirmed(other, `{"email":"new@example.org","reason":"x"}`, 409, "")
	ann.confirmed(fmt.Sprintf("POST /acts/%d/drop", reset.Act), fmt.Sprintf(`{"digest":%q}`, reset.Digest), 200, "")
	for range 2 { // the first settles, the second finds nothing
		if err := e.Accounts.Confirm(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ann.waits(ann.confirmed(other, `{"email":"new@example.org","reason":"x"}`, 200, ""))
}

// TestResetsOutliveStarts approves a reset after a start, and after another one; the row of what waits
// no more is gone with a start.
func TestResetsOutliveStarts(t *testing.T) {
	e := newExchange(t)
	e.customer("bob@example.org")
	staff := e.staff(bourse.RoleOwner)
	ann, bob := staff[0], staff[1]
	reset := ann.waits(ann.confirmed(resetAlice, `{"email":"new@example.org","reason":"by phone"}`, 200, ""))
	gone := ann.waits(ann.confirmed("POST /accounts/2/reset", `{"email":"other@example.org","reason":"by phone"}`, 200, ""))
	ann.confirmed(fmt.Sprintf("POST /acts/%d/drop", gone.Act), fmt.Sprintf(`{"digest":%q}`, gone.Digest), 200, "")

	e.restartAccounts()
	ann.wants("GET /acts", "", 200, `"email":"new@example.org"`)
	ann.confirmed("POST /accounts/2/reset", `{"email":"new@example.org","reason":"x"}`, 409, "") // it is still reserved
	ann.waits(ann.confirmed("POST /accounts/2/reset", `{"email":"other@example.org","reason":"x"}`, 200, ""))
	bob.approves(reset, 200)
	e.restartAccounts() // before the store has it
	for range 2 {
		if who, _, err := e.Accounts.ByID(t.Context(), 1); err != nil || who.Email != "new@example.org" {
			t.Errorf("%+v %v", who, err)
		}
		e.restartAccounts()
	}
}
