package accountv2

import (
	"net/http"

	"github.com/mileusna/useragent"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/keyform"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Account implements the interface.
type Account struct {
	Accounts *account.Service
	View     *view.View
}

// Endpoints returns the endpoints of the interface.
func (a *Account) Endpoints() []v2.Endpoint {
	const (
		get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete

		read, own = account.ScopeRead, account.ScopeAccount
	)
	newKeyFields := keyform.NewFields(fieldPublicKey)

	return []v2.Endpoint{
		{Method: get, Path: "/signup/captcha", Guest: true, Fields: api.Fields{"email"}, Answer: a.captcha},
		{Method: post, Path: "/signup", Guest: true, Class: api.Orders, Fields: signUpFields, Answer: a.signUp},
		{Method: patch, Path: "/signup", Guest: true, Class: api.Orders, Fields: verifyFields, Answer: a.verify},

		{Method: post, Path: "/sessions", KeyOnly: true, Guest: true, Class: api.Orders, Fields: LogInFields, Answer: a.logIn},
		{Method: get, Path: "/sessions", Scope: read, Fields: v2.PageFields, Answer: a.sessions},
		{Method: del, Path: "/sessions", Scope: own, Class: api.Cancels, Answer: a.endSessions},
		{Method: del, Path: "/sessions/others", Scope: own, Class: api.Cancels, Answer: a.endOthers},
		{Method: put, Path: "/sessions/passkey", KeyOnly: true, Guest: true, Class: api.Orders, Answer: a.AskLogIn},
		{
			Method: post, Path: "/sessions/passkey", KeyOnly: true, Guest: true, Class: api.Orders, Fields: AssertFields,
			Answer: a.logInByPasskey,
		},
		{Method: get, Path: "/sessions/{sid}", Scope: read, Answer: a.session},
		{Method: del, Path: "/sessions/{sid}", Scope: own, Class: api.Cancels, Answer: a.endSession},

		{Method: get, Path: "/api-keys", Scope: read, Fields: v2.PageFields, Answer: a.keys},
		{Method: post, Path: "/api-keys", Scope: own, Class: api.Orders, Fields: newKeyFields, Answer: a.makeKey},
		{Method: get, Path: "/api-keys/{keyid}", Scope: read, Answer: a.key},
		{Method: patch, Path: "/api-keys/{keyid}", Scope: own, Class: api.Orders, Fields: keyform.Fields, Answer: a.changeKey},
		{Method: del, Path: "/api-keys/{keyid}", Scope: own, Class: api.Cancels, Answer: a.endKey},

		{Method: get, Path: "/email", Scope: read, Answer: a.email},
		{Method: put, Path: "/email", Scope: own, Class: api.Orders, Fields: emailFields, Answer: a.changeEmail},
		{Method: patch, Path: "/email", Scope: own, Class: api.Orders, Fields: api.Fields{"code"}, Answer: a.verifyEmail},
		{Method: del, Path: "/email", Class: api.Cancels, Fields: undoFields, Answer: a.cancelEmail},

		{Method: put, Path: "/password", Scope: own, Class: api.Orders, Fields: passwordFields, Answer: a.changePassword},
		{Method: del, Path: "/password", Guest: true, Class: api.Orders, Fields: api.Fields{"email"}, Answer: a.forgotPassword},
		{Method: patch, Path: "/password", Guest: true, Class: api.Orders, Fields: resetFields, Answer: a.resetPassword},

		{Method: get, Path: "/mfa/providers", Scope: read, Answer: a.providers},
		{Method: put, Path: "/mfa/providers/{provider}", Scope: own, Class: api.Orders, Answer: a.prepareProvider},
		{Method: post, Path: "/mfa/providers/{provider}", Scope: own, Class: api.Orders, Answer: a.useProvider},
		{Method: del, Path: "/mfa/providers/{provider}", Scope: own, Class: api.Orders, Answer: a.removeProvider},
		{Method: get, Path: "/mfa/passkeys", Scope: read, Fields: v2.PageFields, Answer: a.passkeys},
		{Method: put, Path: "/mfa/passkeys", Scope: own, Class: api.Orders, Answer: a.preparePasskey},
		{Method: post, Path: "/mfa/passkeys", Scope: own, Class: api.Orders, Fields: passkeyFields, Answer: a.addPasskey},
		{Method: del, Path: "/mfa/passkeys/{number}", Scope: own, Class: api.Orders, Answer: a.removePasskey},
		{Method: get, Path: "/mfa/cases", Scope: read, Answer: a.cases},
		{Method: patch, Path: "/mfa/cases", Scope: own, Class: api.Orders, Fields: api.Fields{"cases"}, Answer: a.setCases},

		{Method: get, Path: "/news", Scope: read, Answer: a.news},
		{Method: patch, Path: "/news", Scope: own, Class: api.Orders, Fields: newsFields, Answer: a.setNews},

		{Method: get, Path: "/tier", Scope: read, Fields: v2.PageFields, Answer: a.tier},
		{Method: get, Path: "/activity", Scope: read, Fields: v2.CursorFields, Answer: a.activity},
	}
}

// texts reads required strings.
func texts(c *v2.Call, names ...string) []string {
	c.Require(names...)
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = c.Text(name)
	}
	return values
}

// code reads the required code from a letter.
func code(c *v2.Call) string {
	c.Require("code")
	text := c.Text("code")
	c.Fail(account.CheckCode("code", text))
	return text
}

// client parses a user agent for display.
func client(agent string) (browser, system, device string) {
	ua := useragent.Parse(agent)
	switch {
	case ua.Device != "":
		device = ua.Device
	case ua.Mobile:
		device = "Mobile"
	case ua.Tablet:
		device = "Tablet"
	case ua.Desktop:
		device = "Desktop"
	}
	return ua.Name, ua.OS, device
}
