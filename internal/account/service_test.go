package account_test

import (
	"bytes"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
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
			{ID: plain, Account: id, Name: "plain", Kind: account.KindSecret, Scopes: account.DefaultScopes, Created: bourse.TimeOf(r.now)},
			{
				ID: full, Account: id, Name: "full", Kind: account.KindSecret, Scopes: account.ScopeRead | account.ScopeWithdraw,
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
	for range bourse.MaxKeys {
		r.createKey(id, account.NewKey{})
	}
	journaled := len(r.journal)
	_, _, err = r.CreateKey(t.Context(), id, account.NewKey{})
	wantCode(t, err, bourse.CodeRefused)
	if len(r.journal) != journaled {
		t.Error("the refusal was journaled")
	}
	if n := pending(t, r.store); n != 0 {
		t.Errorf("%d pending rows stayed", n)
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
