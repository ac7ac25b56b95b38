package account_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

var anywhere = netip.MustParseAddr("192.0.2.7")

func TestCreate(t *testing.T) {
	r := newRig(t)
	id := r.create(" Ada@Example.COM ")
	want := account.Account{ID: id, Email: "ada@example.com", Created: bourse.TimeOf(r.now)}
	for range 2 {
		byEmail, ok, err := r.ByEmail(t.Context(), "ADA@example.com")
		if err != nil || !ok || byEmail != want {
			t.Errorf("by e-mail: %+v %v %v, want %+v", byEmail, ok, err, want)
		}
		byID, ok, err := r.ByID(t.Context(), id)
		if err != nil || !ok || byID != want {
			t.Errorf("by id: %+v %v %v, want %+v", byID, ok, err, want)
		}
		_, err = r.Create(t.Context(), "ada@example.com")
		wantCode(t, err, bourse.CodeConflict)
		_, err = r.Create(t.Context(), "ada at example.com")
		wantCode(t, err, bourse.CodeInvalid)
		r.restart()
	}
	if _, ok, err := r.ByEmail(t.Context(), "bob@example.com"); ok || err != nil {
		t.Errorf("nobody's address: %v %v", ok, err)
	}
	if _, ok, err := r.ByID(t.Context(), id+1); ok || err != nil {
		t.Errorf("nobody's id: %v %v", ok, err)
	}
}

func TestKeys(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	office := []netip.Prefix{netip.MustParsePrefix("198.51.100.9/24"), netip.MustParsePrefix("2001:db8::/32")}
	expires := bourse.TimeOf(r.now) + bourse.Hour
	plain, plainSecret := r.createKey(id, account.NewKey{Name: "plain"})
	full, fullSecret := r.createKey(id, account.NewKey{
		Name: "full", Scopes: account.ScopeRead | account.ScopeWithdraw, Addresses: office, Expires: expires,
	})
	office[0] = netip.MustParsePrefix("198.51.100.0/24")
	for range 2 {
		keys, err := r.Keys(t.Context(), id)
		want := []account.Key{
			{ID: plain, Account: id, Name: "plain", Scopes: account.DefaultScopes, Created: bourse.TimeOf(r.now)},
			{
				ID: full, Account: id, Name: "full", Scopes: account.ScopeRead | account.ScopeWithdraw,
				Addresses: office, Expires: expires, Created: bourse.TimeOf(r.now),
			},
		}
		want[0].Addresses = keys[0].Addresses // none, in whatever form
		if err != nil || !reflect.DeepEqual(keys, want) || len(keys[0].Addresses) > 0 {
			t.Errorf("keys %+v (%v), want %+v", keys, err, want)
		}
		who, err := r.Authenticate(t.Context(), plainSecret, anywhere)
		if want := (account.Identity{Account: id, Key: plain, Scopes: account.DefaultScopes}); err != nil || who != want {
			t.Errorf("plain key: %+v %v, want %+v", who, err, want)
		}
		for from, good := range map[string]bool{
			"198.51.100.200": true, "::ffff:198.51.100.1": true, "2001:db8:1::1%eth0": true, "192.0.2.7": false, "2001:db9::1": false,
		} {
			_, err := r.Authenticate(t.Context(), fullSecret, netip.MustParseAddr(from))
			if (err == nil) != good {
				t.Errorf("full key from %s: %v", from, err)
			}
		}
		_, err = r.Authenticate(t.Context(), fullSecret, netip.Addr{})
		wantCode(t, err, bourse.CodeUnauthorized)
		r.restart()
	}
	r.now = expires.Std()
	_, err := r.Authenticate(t.Context(), fullSecret, office[0].Addr())
	wantCode(t, err, bourse.CodeUnauthorized)
}

// TestOneRefusal wants the same error for every secret that is no good.
func TestOneRefusal(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	revoked, revokedSecret := r.createKey(id, account.NewKey{})
	if err := r.RevokeKey(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	_, expired := r.createKey(id, account.NewKey{Expires: bourse.TimeOf(r.now) + 1})
	_, elsewhere := r.createKey(id, account.NewKey{Addresses: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}})
	_, good := r.createKey(id, account.NewKey{})
	r.now = r.now.Add(time.Second)
	_, want := r.Authenticate(t.Context(), "", anywhere)
	for name, secret := range map[string]account.Secret{
		"revoked": revokedSecret, "expired": expired, "wrong address": elsewhere,
		"unknown": account.Secret(bytes.Repeat([]byte("0a"), 32)), "short": good[:63], "long": good + "0",
		"upper case": account.Secret(bytes.ToUpper([]byte(good))), "not hex": "g" + good[1:],
	} {
		if _, err := r.Authenticate(t.Context(), secret, anywhere); err != want { //nolint:errorlint // the same one
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := r.Authenticate(t.Context(), good, anywhere); err != nil {
		t.Error(err)
	}
}

func TestRevoke(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	key, secret := r.createKey(id, account.NewKey{})
	r.now = r.now.Add(time.Minute)
	if err := r.RevokeKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	at := bourse.TimeOf(r.now)
	if len(r.ended) != 1 || r.ended[0] != key {
		t.Errorf("told of %v, want %d", r.ended, key)
	}
	for range 2 {
		_, err := r.Authenticate(t.Context(), secret, anywhere)
		wantCode(t, err, bourse.CodeUnauthorized)
		wantCode(t, r.RevokeKey(t.Context(), key), bourse.CodeNotFound)
		if keys, err := r.Keys(t.Context(), id); err != nil || len(keys) != 1 || keys[0].Revoked != at {
			t.Errorf("keys %+v (%v), want one revoked at %d", keys, err, at)
		}
		r.now = r.now.Add(time.Hour)
		r.restart()
	}
	wantCode(t, r.RevokeKey(t.Context(), key+1), bourse.CodeNotFound)
}

// TestFreeze wants a frozen account to be known as before.
func TestFreeze(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	_, secret := r.createKey(id, account.NewKey{})
	for _, on := range []bool{true, false} {
		if err := r.Freeze(t.Context(), id, on); err != nil {
			t.Fatal(err)
		}
		r.restart()
		if a, _, err := r.ByID(t.Context(), id); err != nil || a.Frozen != on {
			t.Errorf("frozen %v (%v), want %v", a.Frozen, err, on)
		}
		if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
			t.Error(err)
		}
	}
	wantCode(t, r.Freeze(t.Context(), id+1, true), bourse.CodeNotFound)
}

func TestRefused(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	_, _, err := r.CreateKey(t.Context(), id+1, account.NewKey{})
	wantCode(t, err, bourse.CodeNotFound)
	for name, k := range map[string]account.NewKey{
		"scopes":    {Scopes: 8},
		"name":      {Name: "a\nb"},
		"expires":   {Expires: bourse.TimeOf(r.now)},
		"addresses": {Addresses: make([]netip.Prefix, 1)},
	} {
		if _, _, err := r.CreateKey(t.Context(), id, k); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			wantCode(t, err, bourse.CodeInvalid)
		}
	}
	for range engine.MaxKeys {
		if _, err := r.submit(t.Context(), &bourse.Command{Kind: bourse.CommandCreateKey, Account: id}); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = r.CreateKey(t.Context(), id, account.NewKey{})
	wantCode(t, err, bourse.CodeRefused)
	if n := pending(t, r.store); n != 0 {
		t.Errorf("%d pending rows stayed", n)
	}
}

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

// TestMismatch opens accounts beside a journal that is not theirs.
func TestMismatch(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"a journal without the account": func(r *rig) { r.journal = r.journal[:1] },
		"a journal without the key":     func(r *rig) { r.journal = r.journal[:2] },
		"the account of somebody else":  func(r *rig) { r.journal[1].Token[0]++ },
		"the key of somebody else":      func(r *rig) { r.journal[2].Token[0]++ },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.createKey(r.create("ada@example.com"), account.NewKey{})
			r.stop()
			change(r)
			r.assemble()
			if err := r.Open(t.Context()); !errors.Is(err, account.ErrMismatch) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// TestStrangers starts beside a journal that knows more accounts than the store.
func TestStrangers(t *testing.T) {
	r := newRig(t)
	o, err := r.submit(t.Context(), &bourse.Command{Kind: bourse.CommandCreateAccount})
	if err != nil {
		t.Fatal(err)
	}
	r.restart()
	a, ok, err := r.ByID(t.Context(), bourse.AccountID(o.ID))
	if err != nil || !ok || a.ID != bourse.AccountID(o.ID) || a.Email != "" {
		t.Errorf("a stranger is %+v %v %v", a, ok, err)
	}
}

// TestSnapshot replaces what a running service knows by a snapshot in which a
// key has been revoked meanwhile.
func TestSnapshot(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	gone, goneSecret := r.createKey(id, account.NewKey{})
	_, goodSecret := r.createKey(id, account.NewKey{})
	ahead := engine.New()
	for _, cmd := range append(r.journal,
		bourse.Command{Kind: bourse.CommandRevokeKey, Key: gone},
		bourse.Command{Kind: bourse.CommandFreezeAccount, Account: id, On: true}) {
		cmd.Seq, cmd.Time = ahead.Seq()+1, bourse.TimeOf(r.now)
		ahead.Apply(&cmd, new(bourse.Events))
	}
	var snapshot []byte
	ahead.Snapshot(func(b []byte) { snapshot = append(snapshot, b...) })

	r.Begin()
	if err := r.Reset(nil); err != nil {
		t.Fatal(err)
	}
	var cmd bourse.Command
	_, err := engine.Restore(snapshot, func(ev *bourse.Events) {
		r.Observe(&cmd, ev)
		if _, err := r.Authenticate(t.Context(), goneSecret, anywhere); err != nil {
			t.Errorf("half a snapshot is seen: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r.End()
	if len(r.ended) != 1 || r.ended[0] != gone {
		t.Errorf("told of %v, want %d", r.ended, gone)
	}
	_, err = r.Authenticate(t.Context(), goneSecret, anywhere)
	wantCode(t, err, bourse.CodeUnauthorized)
	if _, err := r.Authenticate(t.Context(), goodSecret, anywhere); err != nil {
		t.Error(err)
	}
	if a, _, _ := r.ByID(t.Context(), id); !a.Frozen {
		t.Error("the account is not frozen")
	}
}

// TestBackup restores a copy that was taken while somebody was at work, beside
// the journal of a later moment.
func TestBackup(t *testing.T) {
	r := newRig(t)
	id := r.create("ada@example.com")
	_, secret := r.createKey(id, account.NewKey{})
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := accounts.Backup(t.Context(), r.path, copied); err != nil {
		t.Fatal(err)
	}
	if err := accounts.Backup(t.Context(), r.path, copied); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second copy over the first one: %v", err)
	}
	_, later := r.createKey(id, account.NewKey{})
	r.stop()
	r.path = copied
	r.start()
	if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
		t.Error(err)
	}
	_, err := r.Authenticate(t.Context(), later, anywhere)
	wantCode(t, err, bourse.CodeUnauthorized)
}

// TestNoSecretAtRest looks for secrets in the files.
func TestNoSecretAtRest(t *testing.T) {
	r := newRig(t)
	_, secret := r.createKey(r.create("ada@example.com"), account.NewKey{})
	for _, name := range []string{r.path, r.path + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(string(secret))) {
			t.Errorf("%s holds the secret", name)
		}
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
				key, secret, err := r.CreateKey(context.Background(), id, account.NewKey{})
				if err != nil {
					t.Error(err)
					return
				}
				if who, err := r.Authenticate(context.Background(), secret, anywhere); err != nil || who.Key != key {
					t.Errorf("%+v %v", who, err)
				}
				if err := r.RevokeKey(context.Background(), key); err != nil {
					t.Error(err)
				}
				if _, err := r.Authenticate(context.Background(), secret, anywhere); err == nil {
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

// TestDamaged opens a store whose file was changed.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Open(t.Context(), path); err == nil {
		t.Error("text was opened")
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	r := newRig(b)
	_, secret := r.createKey(r.create("ada@example.com"), account.NewKey{})
	for b.Loop() {
		if _, err := r.Authenticate(b.Context(), secret, anywhere); err != nil {
			b.Fatal(err)
		}
	}
}

// TestKeysOutliveTheStoreForAWhile lets time pass while the store is not reached.
func TestKeysOutliveTheStoreForAWhile(t *testing.T) {
	r := newRig(t)
	_, secret := r.createKey(r.create("ada@example.com"), account.NewKey{})
	r.now = r.now.Add(grace)
	if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
		t.Error(err)
	}
	r.now = r.now.Add(time.Second)
	_, err := r.Authenticate(t.Context(), secret, anywhere)
	wantCode(t, err, bourse.CodeUnavailable)
	r.Reached()
	if _, err := r.Authenticate(t.Context(), secret, anywhere); err != nil {
		t.Error(err)
	}
}
