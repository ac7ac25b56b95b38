package account_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// pending counts the rows without an id.
func pending(t *testing.T, s account.Store) (n int) {
	t.Helper()
	err := errors.Join(
		s.Accounts(t.Context(), func(row *account.AccountRow) error {
			if row.ID == 0 {
				n++
			}
			return nil
		}),
		s.Keys(t.Context(), func(row *account.KeyRow) error {
			if row.ID == 0 {
				n++
			}
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOutcomes breaks commands off in every way, with and without a restart
// after it, and wants the rows to become what the journal says.
func TestOutcomes(t *testing.T) {
	for how, name := range map[breakage]string{lost: "lost", unanswered: "unanswered", late: "late"} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %v", name, restart), func(t *testing.T) {
				r := newRig(t)
				id := r.create("ada@example.com")
				r.breaks = how
				_, err := r.Create(t.Context(), "bob@example.com")
				wantCode(t, err, bourse.CodeUnknown)
				r.breaks = how
				_, _, err = r.CreateKey(t.Context(), id, account.NewKey{Name: "k"})
				wantCode(t, err, bourse.CodeUnknown)
				if restart {
					r.restart()
				} else {
					r.arrive()
					if err := r.Confirm(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				wantOutcome(t, r, id, how != lost, !restart)
			})
		}
	}
}

// wantOutcome looks whether bob and a key of id's are there; taken says that the
// address of a command without outcome is still kept.
func wantOutcome(t *testing.T, r *rig, id bourse.AccountID, there, taken bool) {
	t.Helper()
	if _, ok, err := r.ByEmail(t.Context(), "bob@example.com"); ok != there || err != nil {
		t.Errorf("bob is there: %v (%v), want %v", ok, err, there)
	}
	if keys, err := r.Keys(t.Context(), id); (len(keys) == 1) != there || err != nil {
		t.Errorf("keys %+v (%v)", keys, err)
	}
	if n := pending(t, r.store); (n > 0) != (!there && taken) {
		t.Errorf("%d pending rows", n)
	}
	if _, err := r.Create(t.Context(), "bob@example.com"); (err == nil) != (!there && !taken) {
		t.Errorf("bob again: %v", err)
	}
}

// TestTogether creates, revokes and authenticates from many sides.
func TestTogether(t *testing.T) {
	r := newRig(t)
	var together sync.WaitGroup
	for i := range 8 {
		together.Go(func() {
			id, err := r.Create(context.Background(), fmt.Sprintf("user%d@example.com", i))
			if err != nil {
				t.Error(err)
				return
			}
			for range 5 {
				key, shown, err := r.CreateKey(context.Background(), id, account.NewKey{})
				if err != nil {
					t.Error(err)
					return
				}
				if who, err := r.Authenticate(context.Background(), shown.APIKey, anywhere); err != nil || who.Key != key {
					t.Errorf("%+v %v", who, err)
				}
				if err := r.RevokeKey(context.Background(), key); err != nil {
					t.Error(err)
				}
				if _, err := r.Authenticate(context.Background(), shown.APIKey, anywhere); err == nil {
					t.Error("a revoked key is good")
				}
			}
		})
	}
	together.Wait()
	if n := pending(t, r.store); n != 0 {
		t.Errorf("%d pending rows stayed", n)
	}
	r.restart()
}

// stuck is a store whose Confirm waits.
type stuck struct {
	account.Store

	entered, goOn chan struct{}
}

func (s *stuck) Confirm(ctx context.Context, d *account.Decisions) error {
	close(s.entered)
	<-s.goOn
	return s.Store.Confirm(ctx, d)
}

// TestNobodyWaitsForAStuckStore asks for a person whose change is being written by a store
// that does not answer: callers wait as long as their context, and no longer.
func TestNobodyWaitsForAStuckStore(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	store := &stuck{r.store, make(chan struct{}), make(chan struct{})}
	r.Store = store
	r.breaks = unanswered
	wantCode(t, r.ForgePerson(t.Context(), id, func(row *account.AccountRow) { row.Email = "eve@example.com" }),
		bourse.CodeUnknown)

	var work sync.WaitGroup
	work.Go(func() {
		if err := r.Confirm(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	<-store.entered
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	answered := make(chan error, 2)
	go func() {
		_, _, err := r.ByID(ctx, id)
		answered <- err
	}()
	go func() { answered <- r.Confirm(ctx) }()
	for range 2 {
		select {
		case err := <-answered:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("answered %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("a caller waits beyond its context")
		}
	}

	close(store.goOn)
	work.Wait()
	if a, ok, err := r.ByID(t.Context(), id); err != nil || !ok || a.Email != "eve@example.com" {
		t.Errorf("the person is %+v, %v, %v", a, ok, err)
	}
}
