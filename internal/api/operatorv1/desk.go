package operatorv1

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/operator"
)

// Prefix is the prefix of all paths.
const Prefix = "/operator/v1"

// Verbs carries out the verbs of operators.
type Verbs interface {
	// DoAs carries out a verb in the name of an operator. The answer can be encoded as JSON; the
	// errors are *bourse.Errors and internal ones.
	DoAs(ctx context.Context, who *operator.Orderer, verb string, args jsontext.Value) (any, error)
	// RoleOf returns the lowest role whose operators may order a verb.
	RoleOf(verb string) bourse.OperatorRole
}

// Desk answers operators.
type Desk struct {
	Operators *operator.Service
	Verbs     Verbs
	// Cookie is the name of the cookie with a session's secret.
	Cookie string
	// Sandbox is set where the money is not real.
	Sandbox bool
	Now     func() time.Time
}

// Endpoints returns the endpoints below Prefix.
func (d *Desk) Endpoints() []v2.Endpoint {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

	list := []v2.Endpoint{
		{Method: put, Path: "/invitations/accept", Guest: true, Class: api.Orders, Fields: codeFields, Answer: d.invited},
		{Method: post, Path: "/invitations/accept", Guest: true, Class: api.Orders, Fields: acceptFields, Answer: d.accept},
		{Method: put, Path: "/session", Guest: true, Class: api.Orders, Answer: d.askLogIn},
		{Method: post, Path: "/session", Guest: true, Class: api.Orders, Fields: logInFields, Answer: d.logIn},
		{Method: get, Path: "/session", Answer: d.session},
		{Method: del, Path: "/session", Class: api.Cancels, Answer: d.logOut},
		{Method: post, Path: "/acts/{act}/approve", Scope: account.ScopeAccount, Class: api.Orders, Fields: actFields, Answer: d.approve},
		{Method: post, Path: "/acts/{act}/drop", Scope: account.ScopeAccount, Class: api.Cancels, Fields: actFields, Answer: d.drop},
	}
	for i := range routes {
		list = append(list, d.endpoint(&routes[i]))
	}
	return list
}

// operatorOf returns the calling operator, in person or by a key.
func operatorOf(c *v2.Call) bourse.OperatorID {
	by, _ := operator.Caller(&c.Who)
	return by
}

// may returns an error unless the operator has the role. No operator has the role zero.
func (d *Desk) may(by bourse.OperatorID, role bourse.OperatorRole) error {
	if role == 0 {
		bourse.Impossible("a route's verb is no operator's")
	}
	if o, found := d.Operators.ByID(by); !found || !o.Enabled || o.Role < role {
		return api.Errorf(codes.Forbidden, "Forbidden: it takes the role %s", role)
	}
	return nil
}

// errCode is the error for the code of a second factor, which operators have none of.
var errCode = api.Invalid("code2FA", "operators confirm with a passkey, in assertion2FA")

// confirm wants the operator's passkey to sign for the request.
func (d *Desk) confirm(c *v2.Call) error {
	act := c.Act(0)
	if act.Code != "" {
		c.Fail(errCode)
	}
	if err := c.Err(); err != nil {
		return err
	}
	return d.Operators.Confirm(c.Context, operatorOf(c), act.Digest, act.Assertion)
}

// The errors for secrets that are not taken.
var (
	errSigned  = api.Errorf(codes.ValidationError, "Bourse-Key: the operators' interface takes no requests that keys sign")
	errTwo     = api.Errorf(codes.ValidationError, "Authorization: must not come with the cookie of a session")
	errForeign = api.Errorf(codes.InvalidKey, "Authorization: must be Bearer and an operator's key")
)

// Secret returns the secret in a request: an operator's key in the header Authorization, or that of a session
// in the cookie. Neither is taken in place of the other. A session that has ended is none, and its cookie is
// removed.
func (d *Desk) Secret(c *api.Call) (account.Secret, bool, error) {
	if _, signed := c.HTTP.Header["Bourse-Key"]; signed {
		return "", false, errSigned
	}
	key, shown, ok := api.Bearer(c.HTTP.Header)
	switch {
	case shown && len(c.HTTP.CookiesNamed(d.Cookie)) > 0:
		return "", false, errTwo
	case shown && (!ok || !operator.IsKey(key)):
		return "", false, errForeign
	case shown:
		return key, true, nil
	}

	given := c.HTTP.CookiesNamed(d.Cookie)
	if len(given) == 0 {
		return "", false, nil
	}
	secret := account.Secret(given[0].Value)
	if len(given) > 1 || !d.Operators.IsLive(secret) {
		d.dropCookie(c.Header)
		return "", false, nil
	}
	return secret, true, nil
}

// with returns fields and the field of the reason.
func with(fields ...string) api.Fields { return slices.Concat(fields, api.Fields{fieldReason}) }
