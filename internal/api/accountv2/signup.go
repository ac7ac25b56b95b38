package accountv2

import (
	"encoding/base64"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	signUpFields = api.Fields{"email", "password", "captchaChallenge", "captchaResponse"}
	verifyFields = api.Fields{"email", "code", "password"}
)

// captcha answers with a picture to read, or with nothing where none is asked for.
func (a *Account) captcha(c *v2.Call) error {
	email, err := texts(c, "email")
	if err != nil {
		return err
	}
	picture, on, err := a.Accounts.NewCaptcha(email[0], c.Visit())
	if err != nil {
		return err
	}
	c.Out.Maybe("challenge", picture.Challenge)
	if !on {
		c.Out.Null("img")
		return nil
	}
	c.Out.Text("img", "data:image/png;base64,"+base64.StdEncoding.EncodeToString(picture.PNG))
	return nil
}

// signUp mails a code that confirms the address.
func (a *Account) signUp(c *v2.Call) error {
	given, err := texts(c, "email", "password")
	if err != nil {
		return err
	}
	up := account.SignUp{Email: given[0], Password: given[1], Visit: c.Visit()}
	if up.Challenge, err = c.Text("captchaChallenge"); err != nil {
		return err
	}
	if up.Response, err = c.Text("captchaResponse"); err != nil {
		return err
	}
	return a.Accounts.SignUp(c.Context, up)
}

// verify opens the account of the sign-up that the code, and the password if it is
// given, belong to.
func (a *Account) verify(c *v2.Call) error {
	email, err := texts(c, "email")
	if err != nil {
		return err
	}
	in := account.Confirmation{Email: email[0], Visit: c.Visit()}
	if in.Code, err = code(c); err != nil {
		return err
	}
	if in.Password, err = c.Text("password"); err != nil {
		return err
	}
	if c.Has("password") {
		if err := account.CheckPassword("password", in.Password); err != nil {
			return err
		}
	}
	return a.Accounts.Verify(c.Context, in)
}
