package keyform

import (
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Fields are the names that Read reads.
var Fields = api.Fields{"description", "scopes", "ips", "expires"}

// Bounds on the fields of a key.
const (
	mostScopes = 8
	mostIPs    = 32
	// lastExpiry is the last second of the year 9999.
	lastExpiry = 253402300799
)

// New reads a request for a key; an absent field has its default.
func New(f *api.Form) account.NewKey {
	f.Require("description")
	k := account.Key{Scopes: account.DefaultScopes}
	Read(f, &k)
	return account.NewKey{Name: k.Name, Scopes: k.Scopes, Addresses: k.Addresses, Expires: k.Expires}
}

// Read reads the fields of a key; absent ones stay unchanged.
func Read(f *api.Form, k *account.Key) {
	if f.Has("description") {
		if k.Name = f.Text("description"); strings.TrimSpace(k.Name) == "" {
			f.Fail(api.Invalid("description", "must not be empty"))
		}
	}

	if f.Has("scopes") {
		scopes, err := account.ParseScopes(strings.Join(f.Texts("scopes", mostScopes), ","))
		f.Fail(err)
		k.Scopes = scopes
	}

	if f.Has("ips") {
		k.Addresses = nil
		if words := f.Texts("ips", mostIPs); len(words) > 0 {
			addresses, err := account.ParseAddresses(strings.Join(words, ","))
			if err != nil {
				f.Fail(api.Invalid("ips", "must be addresses or networks"))
			}
			k.Addresses = addresses
		}
	}

	if f.Has("expires") {
		k.Expires = bourse.Time(f.Int("expires", 0, lastExpiry)) * bourse.Second
	}
}

// HasTerms reports whether a request names terms of a key, which are all fields except
// its description.
func HasTerms(f *api.Form) bool { return f.Has("scopes") || f.Has("ips") || f.Has("expires") }

// Write writes the fields of a key that both versions write alike.
func Write(out *wire.Writer, k *account.Key) {
	out.Text("description", k.Name)
	out.Name("scopes")
	out.Array()
	for _, word := range k.Scopes.Words() {
		out.String(word)
	}
	out.EndArray()

	out.Name("ips")
	out.Array()
	for _, p := range k.Addresses {
		out.String(source(p))
	}
	out.EndArray()
}

// source writes a network of one address as the address.
func source(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
