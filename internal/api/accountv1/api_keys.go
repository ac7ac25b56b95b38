package accountv1

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/keyform"
)

// keys lists the account's keys by id. There are at most bourse.MaxKeys, so that the list
// has no pages.
func (a *Account) keys(c *api.Call) error {
	live, err := a.Accounts.LiveKeys(c.Context, c.Who.Account)
	if err != nil {
		return err
	}

	c.Out.Name("sessions")
	c.Out.Object()
	for i := range live {
		c.Out.Name(strconv.FormatUint(uint64(live[i].ID), 10))
		c.Out.Object()
		writeKey(c, &live[i])
		c.Out.EndObject()
	}
	c.Out.EndObject()
	return nil
}

func writeKey(c *api.Call, k *account.Key) {
	keyform.Write(c.Out, k)
	if k.Expires != 0 {
		c.Out.Time("expires", k.Expires)
	}
	if k.Used != 0 {
		c.Out.Time("last_act", k.Used)
	}
}

// makeKey makes a key and answers with its credentials.
func (a *Account) makeKey(c *api.Call) error {
	asked := keyform.New(c.Form, fieldPublicKey)
	act := c.Act(account.CaseAPIKey, "/api_keys/new")
	if err := c.Err(); err != nil {
		return err
	}

	k, shown, err := a.Accounts.MakeKey(c.Context, c.Who, asked, act)
	if err != nil {
		return err
	}
	c.Out.Uint("sid", uint64(k.ID))
	c.Out.Word("api_key", string(shown.APIKey))
	if shown.Secret != "" {
		c.Out.Word("secret", string(shown.Secret))
	}
	writeKey(c, &k)
	return nil
}

// named returns the key that the field sid names.
func (a *Account) named(c *api.Call) (account.Key, error) {
	c.Require("sid")
	id := c.ID("sid")
	if err := c.Err(); err != nil {
		return account.Key{}, err
	}
	return a.Accounts.Key(c.Context, c.Who.Account, bourse.KeyID(id))
}

// editKey changes a key.
func (a *Account) editKey(c *api.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	keyform.Read(c.Form, &k)
	act := c.Act(account.CaseAPIKey, "/api_keys/edit")
	if err := c.Err(); err != nil {
		return err
	}

	if err := a.Accounts.EditKey(c.Context, c.Who, &k, keyform.HasTerms(c.Form), act); err != nil {
		return err
	}
	c.Out.Uint("sid", uint64(k.ID))
	writeKey(c, &k)
	return nil
}

// removeKey revokes a key.
func (a *Account) removeKey(c *api.Call) error {
	k, err := a.named(c)
	if err != nil {
		return err
	}
	return a.Accounts.EndKey(c.Context, c.Who.Account, k.ID, c.Visit())
}
