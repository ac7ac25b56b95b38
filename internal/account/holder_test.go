package account_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestHolder asks for the holder of a key by its id: it is good as long as the key, and from
// where the key is.
func TestHolder(t *testing.T) {
	r := newRig(t)
	id := r.create("a@example.com")
	home, away := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("203.0.113.7")
	key, _ := r.createKey(id, account.NewKey{
		Kind: account.KindHMAC, Scopes: account.ScopeRead, Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Expires: bourse.TimeOf(r.now) + bourse.Hour,
	})
	other, _ := r.createKey(id, account.NewKey{Kind: account.KindHMAC, Scopes: account.ScopeRead})

	if who, err := r.Holder(key, home); err != nil || who.Account != id || who.Key != key || who.Scopes != account.ScopeRead {
		t.Errorf("the holder is %+v, %v", who, err)
	}
	refused := func(what string, key bourse.KeyID, from netip.Addr) {
		t.Helper()
		if who, err := r.Holder(key, from); !errors.Is(err, account.ErrUnauthorized) || who.Account != 0 {
			t.Errorf("%s: %+v, %v", what, who, err)
		}
	}
	refused("another address", key, away)
	refused("no key", other+1, home)

	if err := r.RevokeKey(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	refused("a revoked key", other, home)
	r.now = r.now.Add(time.Hour)
	refused("an expired key", key, home)
}
