package accountv2

import (
	"math"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	passkeyFields = api.Fields{"name", "passkey"}
	// AssertFields are the fields of a log-in by a passkey.
	AssertFields = api.Fields{"assertion", "remember"}
)

// passkeys lists the account's passkeys.
func (a *Account) passkeys(c *v2.Call) error {
	p := c.Page()
	if err := c.Err(); err != nil {
		return err
	}

	list, err := a.Accounts.Passkeys(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	v2.WritePart(c, "passkeys", p, list, func(k *account.UsedPasskey) { writePasskey(c, k) })
	return nil
}

func writePasskey(c *v2.Call, k *account.UsedPasskey) {
	c.Out.Uint("number", uint64(k.Number))
	c.Out.Text("name", k.Name)
	c.Out.Bool("synced", k.Synced)
	c.Out.Seconds("created", k.Created)
	c.Out.Seconds("lastUse", k.Used)
}

// preparePasskey answers with a browser's options for making a passkey.
func (a *Account) preparePasskey(c *v2.Call) error {
	act := c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	asked, err := a.Accounts.PreparePasskey(c.Context, c.Who, act)
	if err != nil {
		return err
	}
	api.WritePasskey(c.Out, "passkey", &asked)
	return nil
}

// addPasskey adds the passkey that a browser made.
func (a *Account) addPasskey(c *v2.Call) error {
	c.Require("name", "passkey")
	name, made := c.Text("name"), c.Registration("passkey")
	c.Fail(account.CheckPasskeyName("name", name))
	if err := c.Err(); err != nil {
		return err
	}

	k, err := a.Accounts.AddPasskey(c.Context, c.Who, name, made, c.Visit())
	if err != nil {
		return err
	}
	writePasskey(c, &account.UsedPasskey{Passkey: k})
	return nil
}

// removePasskey removes a passkey.
func (a *Account) removePasskey(c *v2.Call) error {
	number := c.SegmentID("number")
	if number > math.MaxUint32 {
		c.Fail(api.Errorf(codes.NotFound, "number: there is none with this id"))
	}
	act := c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.RemovePasskey(c.Context, c.Who, uint32(number), act)
}

// AskLogIn answers with a browser's options for asking any passkey for a log-in.
func (a *Account) AskLogIn(c *v2.Call) error {
	asked, err := a.Accounts.AskLogIn()
	if err != nil {
		return err
	}
	api.WriteAssertion(c.Out, "passkey", &asked)
	return nil
}

// LogInByPasskey starts a session with the assertion of a request, and returns its secret.
func (a *Account) LogInByPasskey(c *v2.Call) (account.Secret, error) {
	c.Require("assertion")
	in := account.PasskeyLogIn{
		Assertion: c.Assertion("assertion"), Remember: c.Bool("remember"), Visit: c.Visit(),
	}
	if err := c.Err(); err != nil {
		return "", err
	}
	return a.Accounts.LogInByPasskey(c.Context, in)
}

// logInByPasskey starts a session and answers with its secret.
func (a *Account) logInByPasskey(c *v2.Call) error {
	secret, err := a.LogInByPasskey(c)
	if err != nil {
		return err
	}
	c.Out.Word("apiKey", string(secret))
	return nil
}
