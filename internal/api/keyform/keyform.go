package keyform

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Fields are the names that Read reads.
var Fields = api.Fields{"description", "scopes", "ips", "expires"}

// NewFields returns the names that New reads. publicKey is the interface's name of that field.
func NewFields(publicKey string) api.Fields {
	return slices.Concat(Fields, api.Fields{"kind", publicKey})
}

// Bounds on the fields of a key.
const (
	mostScopes = 8
	mostIPs    = 32
	// lastExpiry is the last second of the year 9999.
	lastExpiry = 253402300799
)

// New reads a request for a key; an absent field has its default. publicKey names the field
// with the public key.
func New(f *api.Form, publicKey string) account.NewKey {
	f.Require("description")
	k := account.Key{Scopes: account.DefaultScopes}
	Read(f, &k)

	asked := account.NewKey{Name: k.Name, Scopes: k.Scopes, Addresses: k.Addresses, Expires: k.Expires}
	if f.Has("kind") {
		if asked.Kind = account.KindNamed(f.Text("kind")); asked.Kind == 0 {
			f.Fail(api.Invalid("kind", "must be one of secret, hmac and ed25519"))
		}
	}
	if asked.Kind == account.KindEd25519 {
		f.Require(publicKey)
	}
	if f.Has(publicKey) && f.Err() == nil {
		var err error
		if asked.PublicKey, err = account.ParsePublicKey(f.Text(publicKey)); err != nil {
			f.Fail(api.Invalid(publicKey, "must be an Ed25519 public key in PEM (BEGIN PUBLIC KEY)"))
		}
	}
	return asked
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
	out.Word("kind", k.Kind.String())
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
