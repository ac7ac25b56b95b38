package accountv2

import (
	"encoding/base64"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	signUpFields = api.Fields{"email", "password", "captchaChallenge", "captchaResponse"}
	verifyFields = api.Fields{"email", "code", "password", "terms"}
)

// captcha answers with an image to read.
func (a *Account) captcha(c *v2.Call) error {
	email := texts(c, "email")
	if err := c.Err(); err != nil {
		return err
	}

	picture, err := a.Accounts.NewCaptcha(email[0], c.Visit())
	if err != nil {
		return err
	}
	c.Out.Text("challenge", picture.Challenge)
	c.Out.Text("img", "data:image/png;base64,"+base64.StdEncoding.EncodeToString(picture.PNG))
	return nil
}

// signUp mails a code that confirms the address.
func (a *Account) signUp(c *v2.Call) error {
	given := texts(c, "email", "password")
	up := account.SignUp{Email: given[0], Password: given[1], Visit: c.Visit()}
	if a.Accounts.Captcha || c.Has("captchaChallenge") || c.Has("captchaResponse") {
		c.Require("captchaChallenge", "captchaResponse")
	}
	up.Challenge, up.Response = c.Text("captchaChallenge"), c.Text("captchaResponse")
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.SignUp(c.Context, up)
}

// verify opens the account of the sign-up that matches the code and, if given, the
// password.
func (a *Account) verify(c *v2.Call) error {
	email := texts(c, "email")
	in := account.Confirmation{Email: email[0], Visit: c.Visit(), Code: code(c), Password: c.Text("password"), Terms: c.Text("terms")}
	if c.Has("password") {
		c.Fail(account.CheckPassword("password", in.Password))
	}
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.Verify(c.Context, in)
}
