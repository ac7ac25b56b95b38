package account_test

import (
	"context"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// slowStore is a store in which the reads of one account's keys take until they
// are let go.
type slowStore struct {
	account.Store
	slow        bourse.AccountID
	asked, goOn chan struct{}
}

// KeysOf waits if it is asked about the slow account.
func (s *slowStore) KeysOf(ctx context.Context, id bourse.AccountID) ([]account.KeyRow, error) {
	if id == s.slow {
		s.asked <- struct{}{}
		<-s.goOn
	}
	return s.Store.KeysOf(ctx, id)
}

// TestKeysOfOthersDoNotWait makes a key while another account's takes long.
func TestKeysOfOthersDoNotWait(t *testing.T) {
	r := newRig(t)
	slow, other := r.create("ada@example.com"), r.create("bob@example.com")
	slowKey, _ := r.createKey(slow, account.NewKey{Name: "first"})
	otherKey, _ := r.createKey(other, account.NewKey{Name: "first"})
	r.Store = &slowStore{Store: r.store, slow: slow, asked: make(chan struct{}), goOn: make(chan struct{})}
	store := r.Store.(*slowStore) //nolint:forcetypeassert // it was just set
	made := make(chan error)
	go func() {
		_, _, err := r.OrderKey(t.Context(), account.Identity{Account: slow, Key: slowKey}, account.NewKey{Name: "slow"}, visit)
		made <- err
	}()
	<-store.asked
	if _, _, err := r.OrderKey(t.Context(), account.Identity{Account: other, Key: otherKey}, account.NewKey{Name: "other"}, visit); err != nil {
		t.Error(err)
	}
	close(store.goOn)
	if err := <-made; err != nil {
		t.Error(err)
	}
}

// TestEndedKeysAreForgotten makes and revokes many more keys than an account may
// have, and wants neither the store nor the list to grow.
func TestEndedKeysAreForgotten(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	kept, secret := r.createKey(id, account.NewKey{Name: "kept"})
	for range account.MostEnded + bourse.MaxKeys {
		key, _ := r.createKey(id, account.NewKey{Name: "gone"})
		if err := r.RevokeKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		keys, err := r.Keys(t.Context(), id)
		if err != nil || len(keys) != account.MostEnded+1 || keys[0].ID != kept || keys[0].Revoked != 0 {
			t.Errorf("%d keys are kept (%v)", len(keys), err)
		}
		if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
			t.Error(err)
		}
		r.restart()
	}
}

// TestExpiredKeysMakeRoom wants a key whose time is over not to count, and who
// listens by it to be told.
func TestExpiredKeysMakeRoom(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	var last bourse.KeyID
	for range bourse.MaxKeys {
		last, _ = r.createKey(id, account.NewKey{Expires: bourse.TimeOf(r.now) + bourse.Hour})
	}
	_, _, err := r.CreateKey(t.Context(), id, account.NewKey{})
	wantCode(t, err, bourse.CodeRefused)
	r.now = r.now.Add(time.Hour)
	if _, err := r.submit(t.Context(), &bourse.Command{Kind: bourse.CommandTick}); err != nil {
		t.Fatal(err)
	}
	if len(r.ended) != bourse.MaxKeys || r.ended[bourse.MaxKeys-1] != last {
		t.Errorf("told of %v", r.ended)
	}
	if key, _ := r.createKey(id, account.NewKey{}); key <= last {
		t.Errorf("key %d follows %d", key, last)
	}
}

// TestSessionsAreBounded wants a session without a row to end first, and then the session
// that was not used for longest.
func TestSessionsAreBounded(t *testing.T) {
	const most = 50
	r := newRig(t)
	r.join(ada)
	_, first := r.session(ada)
	r.breaks = unanswered
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); err == nil {
		t.Error("it was answered")
	}
	var second account.Secret
	for n := range most - 1 {
		r.now = r.now.Add(time.Minute)
		if _, secret := r.session(ada); n == 0 {
			second = secret
		}
	}
	if n := r.engine.Sessions(); n != most {
		t.Errorf("the journal has %d sessions", n)
	}
	r.now = r.now.Add(time.Minute)
	who := r.who(first)
	r.session(ada)
	r.who(first)
	r.gone("the session that was not used for longest", second)
	if list := r.Sessions(who.Account); len(list) != most {
		t.Errorf("there are %d sessions", len(list))
	}
}
