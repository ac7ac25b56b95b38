package operatorv1

import (
	"net/http"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/operator"
)

var (
	codeFields   = api.Fields{"code"}
	acceptFields = api.Fields{"code", "passkey"}
	logInFields  = api.Fields{"assertion"}
)

// invited answers with an invitation, and a browser's options for making its passkey.
func (d *Desk) invited(c *v2.Call) error {
	c.Require("code")
	code := account.Secret(c.Text("code"))
	if err := c.Err(); err != nil {
		return err
	}

	asked, err := d.Operators.Invited(c.Context, code)
	if err != nil {
		return err
	}
	c.Out.Text("email", asked.Email)
	c.Out.Text("name", asked.Name)
	c.Out.Word("role", asked.Role.String())
	c.Out.Seconds("expires", asked.Expires)
	api.WritePasskey(c.Out, "passkey", &asked.Passkey)
	return nil
}

// accept uses an invitation up. It answers with the act that adds the operator, if it waits, and with the fingerprint
// of the passkey.
func (d *Desk) accept(c *v2.Call) error {
	c.Require("code", "passkey")
	code, made := account.Secret(c.Text("code")), c.Registration("passkey")
	if err := c.Err(); err != nil {
		return err
	}

	accepted, err := d.Operators.Register(c.Context, code, made)
	if err != nil {
		return err
	}
	if accepted.Waits() {
		c.Out.Uint("act", uint64(accepted.Act))
	} else {
		c.Out.Uint("operator", uint64(accepted.Operator))
	}
	c.Out.Text("fingerprint", accepted.Fingerprint)
	return nil
}

// askLogIn answers with a browser's options for asking any operator's passkey for a log-in.
func (d *Desk) askLogIn(c *v2.Call) error {
	asked, err := d.Operators.AskLogIn()
	if err != nil {
		return err
	}
	api.WriteAssertion(c.Out, "passkey", &asked)
	return nil
}

// logIn begins a session and sets its cookie.
func (d *Desk) logIn(c *v2.Call) error {
	c.Require("assertion")
	assertion := c.Assertion("assertion")
	if err := c.Err(); err != nil {
		return err
	}

	secret, err := d.Operators.LogIn(c.Context, assertion)
	if err != nil {
		return err
	}
	who, err := d.Operators.Authenticate(c.Context, secret, c.From)
	if err != nil {
		return err // the operator was disabled meanwhile
	}
	c.Who = who
	browser.SetCookie(c.Header, d.Cookie, string(secret), 0)
	return d.session(c)
}

// session writes the calling operator, by the cookie of a session or by a key. Without one the operator is null, which
// is no error: the console asks.
func (d *Desk) session(c *v2.Call) error {
	if c.Who.Account == 0 {
		c.Out.Null("operator")
		c.Out.Bool("sandbox", d.Sandbox)
		return nil
	}

	listed, err := d.Operators.List(c.Context)
	if err != nil {
		return err
	}
	o := &listed[operatorOf(c)-1] // operators are never removed
	c.Out.Uint("operator", uint64(o.ID))
	c.Out.Text("email", o.Email)
	c.Out.Text("name", o.Name)
	c.Out.Word("role", o.Role.String())
	c.Out.Seconds("expires", c.Who.Expires)
	if _, key := operator.Caller(&c.Who); key != 0 {
		c.Out.Uint("key", uint64(key))
	}
	c.Out.Bool("sandbox", d.Sandbox)
	return nil
}

// logOut ends the session of the cookie, if there is one.
func (d *Desk) logOut(c *v2.Call) error {
	if c.Who.Session == 0 {
		return nil
	}
	d.Operators.LogOut(c.Who.Session)
	d.dropCookie(c.Header)
	return nil
}

func (d *Desk) dropCookie(h http.Header) { browser.SetCookie(h, d.Cookie, "", -1) }
