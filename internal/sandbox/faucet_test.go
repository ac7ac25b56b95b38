package sandbox

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestFaucetIsBounded wants an account to get so much at once and little after it, and the
// accounts of one source together ten times as much; other sources lose nothing.
func TestFaucetIsBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	f := New(Options{}).Faucet(func() time.Time { return now })
	here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	take := func(id bourse.AccountID, from netip.Addr) (taken int) {
		for range 1000 {
			var limit *account.LimitError
			if err := f.admit(id, from); errors.As(err, &limit) && limit.Wait > 0 {
				return taken
			}
			taken++
		}
		return taken
	}

	if got := take(1, here); got != 20 {
		t.Errorf("an account takes %d times, want 20", got)
	}
	if now = now.Add(time.Minute); take(1, here) != 1 {
		t.Error("a minute later it does not take once more")
	}
	all := 0
	for id := range bourse.AccountID(30) {
		all += take(2+id, here)
	}
	if all != 200-20+10-1 { // ten came back in the minute
		t.Errorf("the accounts of a source take %d times more, want 189", all)
	}
	if got := take(100, there); got != 20 {
		t.Errorf("an account elsewhere takes %d times, want 20", got)
	}
}
