package account_test

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
)

// FuzzLists reads what operators and customers write about a key: scopes, and
// networks that it may be used from.
func FuzzLists(f *testing.F) {
	for _, s := range []string{"", "read", "read,trade,withdraw", "read,,trade", "account", "READ", "192.0.2.7", "10.0.0.0/8,2001:db8::/32", "10.0.0.0/33", "::ffff:1.2.3.4", "fe80::1%eth0", "1.2.3.4/8"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if scopes, err := account.ParseScopes(s); err == nil {
			if again, err := account.ParseScopes(scopes.String()); err != nil || again != scopes || scopes.Has(account.ScopeAccount) {
				t.Errorf("scopes %q are %s, and again %s: %v", s, scopes, again, err)
			}
		}
		networks, err := account.ParseAddresses(s)
		for _, n := range networks {
			if err != nil || !n.IsValid() {
				t.Errorf("%q has the network %s: %v", s, n, err)
			}
		}
	})
}
