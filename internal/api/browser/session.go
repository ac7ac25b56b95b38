package browser

import (
	"net/http"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// Endpoints returns the endpoints below /web. They are V2's in form.
func (s *Sessions) Endpoints() []v2.Endpoint {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	accounts := &accountv2.Account{Accounts: s.Accounts}

	return []v2.Endpoint{
		{Method: post, Path: "/session", Guest: true, Class: api.Orders, Fields: accountv2.LogInFields, Answer: s.begin(accounts.LogIn)},
		{Method: get, Path: "/session", Answer: s.session},
		{Method: del, Path: "/session", Class: api.Cancels, Answer: s.logOut},
		{Method: put, Path: "/session/passkey", Guest: true, Class: api.Orders, Answer: accounts.AskLogIn},
		{
			Method: post, Path: "/session/passkey", Guest: true, Class: api.Orders, Fields: accountv2.AssertFields,
			Answer: s.begin(accounts.LogInByPasskey),
		},
		{Method: post, Path: "/terms", Scope: account.ScopeAccount, Class: api.Orders, Fields: api.Fields{"version"}, Answer: s.acceptTerms},
	}
}

// begin returns the answer to a log-in, which sets the cookie of the session that logIn starts.
func (s *Sessions) begin(logIn func(*v2.Call) (account.Secret, error)) func(*v2.Call) error {
	return func(c *v2.Call) error {
		secret, err := logIn(c)
		if err != nil {
			return err
		}
		who, err := s.Accounts.Authenticate(c.Context, secret, c.From)
		if err != nil {
			return err // the session has ended meanwhile
		}

		if err := s.write(c, &who); err != nil {
			return err
		}
		s.put(c.Header, secret, &who, c.Bool("remember"))
		return nil
	}
}

// session writes the session of the cookie. Without one the account is null, which is no
// error: every guest's page asks.
func (s *Sessions) session(c *v2.Call) error {
	if c.Who.Account == 0 {
		c.Out.Null("account")
		c.Out.Bool("sandbox", s.Sandbox)
		return nil
	}
	return s.write(c, &c.Who)
}

// logOut ends the session of the cookie, if there is one.
func (s *Sessions) logOut(c *v2.Call) error {
	if c.Who.Account == 0 {
		return nil
	}

	if err := s.Accounts.EndSession(c.Context, c.Who.Account, c.Who.Session, c.Visit()); err != nil {
		return err
	}
	s.drop(c.Header)
	return nil
}

// write writes a session and the state of its account.
func (s *Sessions) write(c *v2.Call, who *account.Identity) error {
	holder, _, err := s.Accounts.ByID(c.Context, who.Account)
	if err != nil {
		return err
	}
	factors, err := s.Accounts.Factors(c.Context, who.Account)
	if err != nil {
		return err
	}
	held := s.Accounts.HeldUntil(who.Account)
	if held <= bourse.TimeOf(s.Now()) {
		held = 0
	}

	c.Out.Uint("account", uint64(who.Account))
	c.Out.Text("email", holder.Email)
	c.Out.Seconds("expires", who.Expires)
	c.Out.Bool("frozen", holder.Frozen)
	c.Out.Seconds("heldUntil", held)
	c.Out.Bool("termsAccepted", s.Accounts.AcceptedTerms(who.Account))
	c.Out.Name("factors")
	c.Out.Array()
	if factors.Passkeys {
		c.Out.String(string(account.ProviderPasskey))
	}
	if factors.Used {
		c.Out.String(string(account.ProviderTOTP))
	} else {
		c.Out.String(string(account.ProviderEmail))
	}
	c.Out.EndArray()
	c.Out.Bool("sandbox", s.Sandbox)
	return nil
}
