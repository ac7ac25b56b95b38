package accountv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/keyform"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// fieldPublicKey names the field with the public key of a new key.
const fieldPublicKey = "publicKey"

// makeKey creates a key. A request repeated under its Idempotency-Key is answered without
// the credentials.
func (a *Account) makeKey(c *v2.Call) error {
	asked := keyform.New(c.Form, fieldPublicKey)
	asked.Request = c.Digest()
	act := c.Act(account.CaseAPIKey)
	asked.Once = c.IdempotencyKey()
	if err := c.Err(); err != nil {
		return err
	}

	k, shown, err := a.Accounts.MakeKey(c.Context, c.Who, asked, act)
	if err != nil {
		return err
	}

	c.Out.Uint("keyid", uint64(k.ID))
	c.Out.Maybe("apiKey", string(shown.APIKey))
	c.Out.Maybe("secret", string(shown.Secret))
	writeTerms(c, &k)
	return nil
}

func writeKey(c *v2.Call, k *account.Key) {
	c.Out.Uint("keyid", uint64(k.ID))
	writeTerms(c, k)
}

// writeTerms writes all fields of a key except its id.
func writeTerms(c *v2.Call, k *account.Key) {
	keyform.Write(c.Out, k)
	c.Out.Seconds("expires", k.Expires)
	c.Out.Seconds("lastAct", k.Used)
}

// keys lists the account's keys without revoked ones.
func (a *Account) keys(c *v2.Call) error {
	p := c.Page()
	if err := c.Err(); err != nil {
		return err
	}

	live, err := a.Accounts.LiveKeys(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	v2.WritePart(c, "apiKeys", p, live, func(k *account.Key) { writeKey(c, k) })
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

// changeKey changes a key.
func (a *Account) changeKey(c *v2.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	keyform.Read(c.Form, &k)
	act := c.Act(account.CaseAPIKey)
	if err := c.Err(); err != nil {
		return err
	}

	if err := a.Accounts.EditKey(c.Context, c.Who, &k, keyform.HasTerms(c.Form), act); err != nil {
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
