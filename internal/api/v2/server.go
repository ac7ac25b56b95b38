package v2

import (
	"errors"
	"net/http"
	"slices"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// dialect is the dialect of the V2 interfaces.
var dialect = &api.Dialect{
	Secret: secret, BadSecret: errKey, NoSecret: api.ErrNoSecret, Begin: (*wire.Writer).Object, Fail: fail,
}

// Handle registers an interface below a prefix of a mux, with errors for all other paths
// there.
func Handle(s *api.Server, mux *http.ServeMux, prefix string, endpoints []Endpoint) {
	handle(s, mux, prefix, dialect, endpoints)
}

// HandlePages registers an interface for pages, with a session's secret in place of the
// key. secret returns it.
func HandlePages(s *api.Server, mux *http.ServeMux, prefix string, secret api.SecretOf, endpoints []Endpoint) {
	forPages := *dialect
	forPages.Secret, forPages.NoSecret = secret, api.ErrNoSession
	handle(s, mux, prefix, &forPages, slices.DeleteFunc(endpoints, func(e Endpoint) bool { return e.KeyOnly }))
}

func handle(s *api.Server, mux *http.ServeMux, prefix string, d *api.Dialect, endpoints []Endpoint) {
	register(s, mux, prefix, d, endpoints)
	nothing := s.Path(d, prefix+"/", nil)
	mux.Handle(prefix, nothing)
	mux.Handle(prefix+"/", nothing)
}

// Register registers the paths of an interface below a prefix of a mux, and no others.
func Register(s *api.Server, mux *http.ServeMux, prefix string, endpoints []Endpoint) {
	register(s, mux, prefix, dialect, endpoints)
}

func register(s *api.Server, mux *http.ServeMux, prefix string, d *api.Dialect, endpoints []Endpoint) {
	paths := map[string]map[string]*api.Endpoint{}
	for i := range endpoints {
		e := &endpoints[i]

		if e.Method != http.MethodGet {
			e.Fields = slices.Concat(e.Fields, api.Fields{fieldCode, fieldAssertion})
		}
		if paths[e.Path] == nil {
			paths[e.Path] = map[string]*api.Endpoint{}
		}
		paths[e.Path][e.Method] = e.plain(prefix)
	}

	for path, methods := range paths {
		mux.Handle(prefix+path, s.Path(d, prefix+path, methods))
	}
}

// Missing returns the handler of paths that do not exist, below no prefix.
func Missing(s *api.Server) http.Handler { return s.Path(dialect, "/", nil) }

// plain returns the endpoint as an api.Endpoint.
func (e *Endpoint) plain(prefix string) *api.Endpoint {
	return &api.Endpoint{
		Method: e.Method, Path: prefix + e.Path, Fields: e.Fields, Scope: e.Scope, Guest: e.Guest, Query: e.Query,
		Class: e.Class, Compress: e.Compress,
		Answer: func(c *api.Call) error { return e.Answer(&Call{c}) },
	}
}

// errKey is the error for every invalid key.
var errKey = api.Errorf(codes.InvalidKey, "The API key is invalid")

// secret returns the key in the header Authorization.
func secret(c *api.Call) (account.Secret, bool, error) {
	key, shown, ok := api.Bearer(c.HTTP.Header)
	if shown && !ok {
		return "", false, errKey
	}
	return key, shown, nil
}

// Refuse answers a request that reaches no endpoint with an error for clients.
func Refuse(w http.ResponseWriter, err error) {
	c := &api.Call{Out: wire.NewWriter(nil), Header: w.Header()}
	status := fail(c, err)
	if status == 0 {
		status = fail(c, api.ErrInternal)
	}
	c.Header.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(c.Out.Bytes()) // the client may be gone
}

// fail writes the answer for an error.
func fail(c *api.Call, err error) int {
	e := public(err)
	if e == nil {
		return 0
	}
	switch e.Code {
	case codes.RateLimit:
		c.RetryLater(err)
	case codes.Unauthorized:
		c.Header.Set("WWW-Authenticate", "Bearer")
	default: // the body is enough
	}

	c.Out.Object()
	c.Out.Name("error")
	c.Out.Object()
	c.Out.Word("code", string(e.Code))
	c.Out.Text("msg", e.Message)
	if factor := new(account.FactorError); errors.As(err, &factor) && factor.Passkey != nil {
		c.Out.Word("provider", string(factor.Provider))
		api.WriteAssertion(c.Out, "passkey", factor.Passkey)
	}
	c.Out.EndObject()
	c.Out.EndObject()
	return statusOf(e.Code)
}
