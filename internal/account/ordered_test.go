package account_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestResetIsKeptThatBeginsToWait has a reset begin to wait while Confirm looks for rows that nothing
// waits for. The row stays, and becomes the account's once the reset is carried out.
func TestResetIsKeptThatBeginsToWait(t *testing.T) {
	r := newRig(t)
	id := r.create(ada)
	cmd, err := r.PrepareReset(t.Context(), account.Reset{Account: id, Email: "countess@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	waits := false
	order := func() {
		waits = true
		r.Ordered(t.Context(), &cmd, nil)
	}
	r.Awaited = func() map[bourse.RowDigest]bourse.ResetParts {
		if !waits {
			order()
			return nil
		}
		return map[bourse.RowDigest]bourse.ResetParts{cmd.Access.Digest: bourse.ResetEmail}
	}

	if err := r.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	order()
	if out := r.apply(&cmd); out.Reason != 0 {
		t.Fatalf("refused: %s", out.Reason)
	}
	waits = false
	if who, _, err := r.ByID(t.Context(), id); err != nil || who.Email != "countess@example.com" {
		t.Errorf("%+v %v", who, err)
	}
}
