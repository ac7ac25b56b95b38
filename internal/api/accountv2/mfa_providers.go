package accountv2

import (
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// providers writes the providers of second factors and their states.
func (a *Account) providers(c *v2.Call) error {
	f, err := a.Accounts.Factors(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	c.Out.Name("providers")
	c.Out.Object()
	writeProvider(c, account.ProviderEmail, "One-time codes by e-mail", true, !f.Used)
	writeProvider(c, account.ProviderTOTP, "Authenticator application", f.Prepared, f.Used)
	writeProvider(c, account.ProviderPasskey, "Passkeys", f.Passkeys, f.Passkeys)
	c.Out.EndObject()
	return nil
}

func writeProvider(c *v2.Call, p account.Provider, description string, configured, enabled bool) {
	c.Out.Name(string(p))
	c.Out.Object()
	c.Out.Text("description", description)
	c.Out.Bool("configured", configured)
	c.Out.Bool("enabled", enabled)
	c.Out.EndObject()
}

// provider returns the provider that the path names; TOTP is an alias.
func provider(c *v2.Call) account.Provider {
	switch name := c.Segment("provider"); name {
	case string(account.ProviderEmail), string(account.ProviderTOTP):
		return account.Provider(name)
	case "TOTP":
		return account.ProviderTOTP
	case string(account.ProviderPasskey):
		c.Fail(api.Errorf(codes.MethodNotAllowed, "Passkeys are added and removed at /mfa/passkeys"))
		return ""
	}
	c.Fail(api.Errorf(codes.NotFound, "There is no such provider"))
	return ""
}

// prepareProvider answers with the new key of an authenticator application.
func (a *Account) prepareProvider(c *v2.Call) error {
	if provider(c) == account.ProviderEmail {
		return account.ErrConfigured
	}
	act := c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	key, err := a.Accounts.PrepareTOTP(c.Context, c.Who.Account, act)
	if err != nil {
		return err
	}
	c.Out.Text("url", string(key.URL))
	c.Out.Text("secret", string(key.Secret))
	return nil
}

// useProvider makes a provider the second factor.
func (a *Account) useProvider(c *v2.Call) error {
	p, act := provider(c), c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	if p == account.ProviderEmail {
		return a.Accounts.UseEmail(c.Context, c.Who, act)
	}
	return a.Accounts.UseTOTP(c.Context, c.Who, act)
}

// removeProvider removes a provider; e-mail cannot be removed.
func (a *Account) removeProvider(c *v2.Call) error {
	if provider(c) == account.ProviderEmail {
		return api.Errorf(codes.MethodNotAllowed, "Codes can always come by e-mail")
	}
	act := c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.RemoveTOTP(c.Context, c.Who, act)
}
