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

// Bounds on the fields of a key.
const (
	mostScopes = 8
	mostIPs    = 32
	// lastExpiry is the last second of the year 9999.
	lastExpiry = 253402300799
)

// makeKey creates a key. A request repeated under its Idempotency-Key is answered without
// the secret.
func (a *Account) makeKey(c *v2.Call) error {
	c.Require("description")
	k := account.Key{Account: c.Who.Account, Scopes: account.DefaultScopes}
	readKey(c, &k)
	asked := account.NewKey{Name: k.Name, Scopes: k.Scopes, Addresses: k.Addresses, Expires: k.Expires,
		Request: c.Digest()}
	act := c.Act(cases(k.Scopes))
	asked.Once = c.IdempotencyKey()

	if err := c.Err(); err != nil {
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

// cases returns the cases that protect the making of a key: one with the scope withdraw,
// which needs no second factor later, is protected like a withdrawal.
func cases(scopes account.Scopes) account.Cases {
	if scopes.Has(account.ScopeWithdraw) {
		return account.CaseAPIKey | account.CaseWithdrawal
	}
	return account.CaseAPIKey
}

// readKey reads the fields of a key; absent ones stay unchanged.
func readKey(c *v2.Call, k *account.Key) {
	if c.Has("description") {
		if k.Name = c.Text("description"); strings.TrimSpace(k.Name) == "" {
			c.Fail(api.Invalid("description", "must not be empty"))
		}
	}

	if c.Has("scopes") {
		scopes, err := account.ParseScopes(strings.Join(c.Texts("scopes", mostScopes), ","))
		c.Fail(err)
		k.Scopes = scopes
	}

	if c.Has("ips") {
		k.Addresses = nil
		if words := c.Texts("ips", mostIPs); len(words) > 0 {
			addresses, err := account.ParseAddresses(strings.Join(words, ","))
			if err != nil {
				c.Fail(api.Invalid("ips", "must be addresses or networks"))
			}
			k.Addresses = addresses
		}
	}

	if c.Has("expires") {
		k.Expires = bourse.Time(c.Int("expires", 0, lastExpiry)) * bourse.Second
	}
}

func writeKey(c *v2.Call, k *account.Key) {
	c.Out.Uint("keyid", uint64(k.ID))
	writeTerms(c, k)
}

// writeTerms writes all fields of a key except its id.
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

// keys lists the account's keys without revoked ones.
func (a *Account) keys(c *v2.Call) error {
	p := c.Page()
	if err := c.Err(); err != nil {
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
	id := c.SegmentID("keyid")
	if err := c.Err(); err != nil {
		return account.Key{}, err
	}
	return a.Accounts.Key(c.Context, c.Who.Account, bourse.KeyID(id))
}

// key writes one key.
func (a *Account) key(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	writeKey(c, &k)
	return nil
}

// changeKey changes a key. A change of scopes, addresses or expiry is confirmed like a
// new key.
func (a *Account) changeKey(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	readKey(c, &k)
	act := c.Act(cases(k.Scopes))
	if err := c.Err(); err != nil {
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

// endKey revokes a key.
func (a *Account) endKey(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	return a.Accounts.EndKey(c.Context, c.Who.Account, k.ID, c.Visit())
}
