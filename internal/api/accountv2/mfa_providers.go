package accountv2

import (
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// providers shows where codes can come from, and do.
func (a *Account) providers(c *v2.Call) error {
	f, err := a.Accounts.Factors(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	c.Out.Name("providers")
	c.Out.Object()
	writeProvider(c, account.ProviderEmail, "One-time codes by e-mail", true, !f.Used)
	writeProvider(c, account.ProviderTOTP, "Authenticator application", f.Prepared, f.Used)
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

// provider returns the one that the path names.
func provider(c *v2.Call) (account.Provider, error) {
	switch name := c.Segment("provider"); name {
	case string(account.ProviderEmail), string(account.ProviderTOTP):
		return account.Provider(name), nil
	case "GA":
		return account.ProviderTOTP, nil
	}
	return "", v2.Errorf(v2.NotFound, "There is no such provider")
}

// prepareProvider answers with what an authenticator application reads its secret
// from.
func (a *Account) prepareProvider(c *v2.Call) error {
	p, err := provider(c)
	if err != nil {
		return err
	}
	if p == account.ProviderEmail {
		return account.ErrConfigured
	}
	act, err := c.Act(0)
	if err != nil {
		return err
	}
	url, err := a.Accounts.PrepareTOTP(c.Context, c.Who.Account, act)
	if err != nil {
		return err
	}
	c.Out.Text("url", string(url))
	return nil
}

// useProvider makes one the second factor.
func (a *Account) useProvider(c *v2.Call) error {
	p, err := provider(c)
	if err != nil {
		return err
	}
	act, err := c.Act(0)
	if err != nil {
		return err
	}
	if p == account.ProviderEmail {
		return a.Accounts.UseEmail(c.Context, c.Who, act)
	}
	if act.Code == "" {
		return api.Missing("code2FA")
	}
	return a.Accounts.UseTOTP(c.Context, c.Who, act)
}

// removeProvider forgets one; codes can always come by e-mail.
func (a *Account) removeProvider(c *v2.Call) error {
	p, err := provider(c)
	if err != nil {
		return err
	}
	if p == account.ProviderEmail {
		return v2.Errorf(v2.MethodNotAllowed, "Codes can always come by e-mail")
	}
	act, err := c.Act(0)
	if err != nil {
		return err
	}
	return a.Accounts.RemoveTOTP(c.Context, c.Who, act)
}
