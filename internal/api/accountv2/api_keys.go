package accountv2

import (
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var keyFields = api.Fields{"description", "scopes", "ips", "expires"}

// The bounds of what a request for a key may list.
const (
	mostScopes = 8
	mostIPs    = 32
	// lastExpiry is the end of the year 9999.
	lastExpiry = 253402300799
)

// makeKey makes a key. One that was made before, under the same Idempotency-Key,
// is answered without its secret.
func (a *Account) makeKey(c *v2.Call) error {
	if err := c.Require("description"); err != nil {
		return err
	}
	k := account.Key{Account: c.Who.Account, Scopes: account.DefaultScopes}
	if err := readKey(c, &k); err != nil {
		return err
	}
	asked := account.NewKey{Name: k.Name, Scopes: k.Scopes, Addresses: k.Addresses, Expires: k.Expires, Request: c.Digest()}
	act, err := c.Act(cases(k.Scopes))
	if err != nil {
		return err
	}
	if asked.Once, err = c.IdempotencyKey(); err != nil {
		return err
	}
	id, err := a.Accounts.CheckKey(c.Context, c.Who.Account, asked)
	if err != nil {
		return err
	}
	var secret account.Secret
	if id == 0 {
		act.What = "Make an API key: " + account.Terms(&k)
		if err := a.Accounts.SecondFactor(c.Context, c.Who, act); err != nil {
			return err
		}
		if id, secret, err = a.Accounts.OrderKey(c.Context, c.Who, asked, c.Visit()); err != nil {
			return err
		}
	}
	if k, err = a.Accounts.Key(c.Context, c.Who.Account, id); err != nil {
		return err
	}
	c.Out.Uint("keyid", uint64(id))
	c.Out.Maybe("apiKey", string(secret))
	writeTerms(c, &k)
	return nil
}

// cases are those that ask for a second factor for a key: one that can withdraw
// without it must not be had without it.
func cases(scopes account.Scopes) account.Cases {
	if scopes.Has(account.ScopeWithdraw) {
		return account.CaseAPIKey | account.CaseWithdrawal
	}
	return account.CaseAPIKey
}

// readKey reads what the owner may say of a key; what is absent stays.
func readKey(c *v2.Call, k *account.Key) (err error) {
	if c.Has("description") {
		if k.Name, err = c.Text("description"); err != nil {
			return err
		}
		if strings.TrimSpace(k.Name) == "" {
			return api.Invalid("description", "must not be empty")
		}
	}
	if c.Has("scopes") {
		words, err := c.Texts("scopes", mostScopes)
		if err != nil {
			return err
		}
		if k.Scopes, err = account.ParseScopes(strings.Join(words, ",")); err != nil {
			return err
		}
	}
	if c.Has("ips") {
		words, err := c.Texts("ips", mostIPs)
		if err != nil {
			return err
		}
		if k.Addresses = nil; len(words) > 0 {
			if k.Addresses, err = account.ParseAddresses(strings.Join(words, ",")); err != nil {
				return api.Invalid("ips", "must be addresses or networks")
			}
		}
	}
	if c.Has("expires") {
		seconds, err := c.Int("expires", 0, lastExpiry)
		if err != nil {
			return err
		}
		k.Expires = bourse.Time(seconds) * bourse.Second
	}
	return nil
}

func writeKey(c *v2.Call, k *account.Key) {
	c.Out.Uint("keyid", uint64(k.ID))
	writeTerms(c, k)
}

// writeTerms writes what there is to say of a key but its id.
func writeTerms(c *v2.Call, k *account.Key) {
	c.Out.Text("description", k.Name)
	c.Out.Name("scopes")
	c.Out.Array()
	for _, word := range k.Scopes.Words() {
		c.Out.String(word)
	}
	c.Out.EndArray()
	c.Out.Name("ips")
	c.Out.Array()
	for _, p := range k.Addresses {
		if p.IsSingleIP() {
			c.Out.String(p.Addr().String())
		} else {
			c.Out.String(p.String())
		}
	}
	c.Out.EndArray()
	c.Out.Seconds("expires", k.Expires)
	c.Out.Seconds("lastAct", k.Used)
}

// keys lists the account's good keys.
func (a *Account) keys(c *v2.Call) error {
	p, err := c.Page()
	if err != nil {
		return err
	}
	all, err := a.Accounts.Keys(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	good := all[:0]
	for i := range all {
		if all[i].Revoked == 0 {
			good = append(good, all[i])
		}
	}
	v2.WritePart(c, "apiKeys", p, good, func(k *account.Key) { writeKey(c, k) })
	return nil
}

// named returns the key that the path names.
func (a *Account) named(c *v2.Call) (account.Key, error) {
	id, err := c.SegmentID("keyid")
	if err != nil {
		return account.Key{}, err
	}
	return a.Accounts.Key(c.Context, c.Who.Account, bourse.KeyID(id))
}

// key shows one.
func (a *Account) key(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	writeKey(c, &k)
	return nil
}

// changeKey changes what the owner says of a key. What a key may do is confirmed
// like a new key.
func (a *Account) changeKey(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	if err := readKey(c, &k); err != nil {
		return err
	}
	act, err := c.Act(cases(k.Scopes))
	if err != nil {
		return err
	}
	if err := a.Accounts.CheckChange(c.Context, &k); err != nil {
		return err
	}
	if c.Has("scopes") || c.Has("ips") || c.Has("expires") {
		act.What = fmt.Sprintf("Change API key %d: %s", k.ID, account.Terms(&k))
		if err := a.Accounts.SecondFactor(c.Context, c.Who, act); err != nil {
			return err
		}
	}
	if err := a.Accounts.ChangeKey(c.Context, c.Who, &k, c.Visit()); err != nil {
		return err
	}
	writeKey(c, &k)
	return nil
}

// endKey revokes one.
func (a *Account) endKey(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	return a.Accounts.EndKey(c.Context, c.Who.Account, k.ID, c.Visit())
}
