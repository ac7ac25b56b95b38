package spotv1

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// TestBatchesWeigh counts a batch as an order for each order, malformed ones included, and a
// cancel for each cancel. The request itself was counted as one order.
func TestBatchesWeigh(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	limits := api.NewLimiter(api.Limits{Account: api.Rates{
		Orders: api.Rate{PerSecond: 1, Burst: 10}, Cancels: api.Rate{PerSecond: 1, Burst: 3},
	}}, func() time.Time { return now })
	c := &api.Call{Limits: limits, Class: api.Orders, Who: account.Identity{Account: 1}}
	if !limits.Admit(c.Class, c.Payer()) {
		t.Fatal("a request is not admitted")
	}

	place, cancel, malformed := batched{}, batched{cancel: true}, batched{err: bourse.ErrBusy}
	if err := admitBatch(c, []batched{place, cancel, malformed, cancel, cancel, place}); err != nil {
		t.Fatal(err)
	}
	left := 0
	for limits.Admit(api.Orders, c.Payer()) {
		left++
	}
	if left != 7 {
		t.Errorf("%d orders are left of 10 after 3", left)
	}
	if err := admitBatch(c, []batched{cancel}); !errors.Is(err, bourse.ErrBusy) {
		t.Errorf("the fourth cancel of 3: %v", err)
	}
}

// TestWalksTakeTurns lets an account send many orders at once that may walk the book: the
// first one's walk is charged before the next is admitted, so that none is. Plain orders
// and other accounts do not wait.
func TestWalksTakeTurns(t *testing.T) {
	const crowd = 50
	now := time.Unix(1_700_000_000, 0)
	limits := api.NewLimiter(api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 1, Burst: 2 * crowd}}}, func() time.Time { return now })
	call := func(id bourse.AccountID) *api.Call {
		c := &api.Call{Limits: limits, Class: api.Orders, Who: account.Identity{Account: id}}
		if !limits.Admit(c.Class, c.Payer()) {
			t.Error("a request is not admitted")
		}
		return c
	}
	walk := &bourse.NewOrder{Type: bourse.Limit, TIF: bourse.FOK}
	s := new(Spot)
	first := call(1)
	over, err := s.Turn(limits, first.Who.Account, walk)
	if err != nil {
		t.Fatal(err)
	}

	var refused atomic.Int64
	var begun, ended sync.WaitGroup
	begun.Add(crowd)
	for range crowd {
		c := call(1)
		ended.Go(func() {
			begun.Done()
			over, err := s.Turn(limits, c.Who.Account, walk)
			if errors.Is(err, bourse.ErrBusy) {
				refused.Add(1)
				return
			}
			over()
		})
	}
	begun.Wait()
	for id, p := range map[bourse.AccountID]*bourse.NewOrder{1: {Type: bourse.Limit, TIF: bourse.GTC}, 2: walk} {
		over, err := s.Turn(limits, call(id).Who.Account, p)
		if err != nil {
			t.Fatalf("account %d: %v", id, err)
		}
		over()
	}
	first.Charge(2 * crowd) // the levels that it walked
	over()
	ended.Wait()
	if refused.Load() != crowd {
		t.Errorf("%d of %d were refused", refused.Load(), crowd)
	}
}
