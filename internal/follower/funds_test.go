package follower_test

import (
	"context"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestFunds wants calls that wait together to get the money after the last command that was applied,
// also while the store is broken.
func TestFunds(t *testing.T) {
	r := newRig(t)
	r.do(opening()...)
	r.do(credit(), credit())
	r.store.broken = true
	for r.follower.Seq() < r.live.Seq() {
		_, _ = r.follower.Step(t.Context()) // it fails once there is nothing else to do
	}

	const callers = 4
	got := make(chan *bourse.Funds, callers)
	for range callers {
		go func() {
			funds, err := r.follower.Funds(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- funds
		}()
	}
	for range callers {
		var funds *bourse.Funds
		for funds == nil {
			select {
			case funds = <-got:
			default:
				_, _ = r.follower.Step(t.Context())
			}
		}
		a := funds.Assets[0]
		owes := []bourse.OwnBalance{{Account: bourse.AccountSandbox, Owes: bourse.Units(2)}}
		if funds.Seq != r.live.Seq() || a.Customers != bourse.Units(2) || len(a.Own) != 1 || a.Own[0] != owes[0] {
			t.Errorf("%+v", funds)
		}
	}

	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := r.follower.Funds(ended); err == nil {
		t.Error("no step, and an answer")
	}
}
