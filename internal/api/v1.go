package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// v1 is the dialect of the V1 interfaces: POST or GET with a JSON object, or GET with a
// query string if no key is needed. A request that is taken has status 200 and a JSON
// object with success, which a path that does not exist is answered with as well; any
// other status has no body.
var v1 = &Dialect{SecretInside: true, Secret: secretV1, Begin: beginV1, Fail: failV1}

// statusesV1 are the statuses of errors that have no body.
var statusesV1 = map[*bourse.Error]int{
	ErrMethod:    http.StatusMethodNotAllowed,
	ErrTooLong:   http.StatusRequestEntityTooLarge,
	ErrBrokenOff: http.StatusBadRequest,
	ErrLeft:      http.StatusBadRequest,
	ErrInternal:  http.StatusInternalServerError,
}

// Handle registers the endpoints of a V1 interface below a prefix.
func (s *Server) Handle(mux *http.ServeMux, prefix string, endpoints []Endpoint) {
	for i := range endpoints {
		e := &endpoints[i]
		if e.Scope != 0 {
			e.Fields = slices.Concat(Fields{"api_key"}, e.Fields)
		}
		mux.Handle(prefix+e.Path, s.Path(v1, e.Path, map[string]*Endpoint{http.MethodGet: e, http.MethodPost: e}))
	}
}

// secretV1 returns the field api_key.
func secretV1(c *Call) (account.Secret, bool, error) {
	c.Require("api_key")
	secret := c.Text("api_key")
	return account.Secret(secret), true, c.Err()
}

func beginV1(out *wire.Writer) {
	out.Object()
	out.Bool("success", true)
}

func failV1(c *Call, err error) int {
	var known *bourse.Error
	var factor *account.FactorError
	switch {
	case errors.As(err, &factor):
		c.refuse(factor.Error())
		c.Out.Bool("need_2fa", true)
		c.Out.Word("provider_2fa", string(factor.Provider))
		c.Out.EndObject()
		return http.StatusOK
	case errors.Is(err, ErrNoEndpoint):
		c.refuse(ErrNoEndpoint.Message)
		c.Out.EndObject()
		return http.StatusNotFound
	case !errors.As(err, &known):
		return 0
	case known.Code == bourse.CodeBusy:
		c.Header["Retry-After"] = retryAfter
		return http.StatusTooManyRequests
	}

	if status := statusesV1[known]; status != 0 {
		return status
	}
	c.refuse(known.Message)
	c.Out.EndObject()
	return http.StatusOK
}

// Missing returns the handler of paths that V1 does not have.
func (s *Server) Missing() http.Handler { return s.Path(v1, "/", nil) }

// refuse begins the answer for an error.
func (c *Call) refuse(message string) {
	c.Out.Object()
	c.Out.Bool("success", false)
	c.Out.Text("error", message)
}
