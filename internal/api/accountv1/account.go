package accountv1

import (
	"slices"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/keyform"
)

// Account implements the interface.
type Account struct {
	Accounts *account.Service
	// Who judges the keys of /session/check and bounds the bad ones of a source.
	Who api.Authenticator
}

// fieldCode names the field with the code of a second factor.
const fieldCode = "code_2fa"

// fieldPublicKey names the field with the public key of a new key.
const fieldPublicKey = "public_key"

// Endpoints returns the endpoints of the interface.
func (a *Account) Endpoints() []api.Endpoint {
	const read, own = account.ScopeRead, account.ScopeAccount
	newFields := slices.Concat(keyform.NewFields(fieldPublicKey), api.Fields{fieldCode})
	editFields := slices.Concat(api.Fields{"sid"}, keyform.Fields, api.Fields{fieldCode})

	return []api.Endpoint{
		{Path: "/session/check", KeyOnly: true, Private: true, Fields: api.Fields{"api_key"}, Answer: a.check},
		{Path: "/login", KeyOnly: true, Private: true, Class: api.Orders, Fields: loginFields, Answer: a.logIn},
		{Path: "/logout", Scope: own, Class: api.Cancels, Answer: a.logOut},
		{Path: "/api_keys/list", Scope: read, Answer: a.keys},
		{Path: "/api_keys/new", Scope: own, Class: api.Orders, Fields: newFields, Answer: a.makeKey},
		{Path: "/api_keys/edit", Scope: own, Class: api.Orders, Fields: editFields, Answer: a.editKey},
		{Path: "/api_keys/remove", Scope: own, Class: api.Cancels, Fields: api.Fields{"sid"}, Answer: a.removeKey},
	}
}
