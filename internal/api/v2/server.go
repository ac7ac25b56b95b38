package v2

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Server serves the V2 interfaces.
type Server struct {
	Who api.Authenticator
	// From returns the address that a request came from.
	From func(*http.Request) netip.Addr
	// Limits count requests; nil allows everything.
	Limits *api.Limiter
	// Observe is told how each request ended, and how long it took.
	Observe func(endpoint string, status int, took time.Duration)
	Clock   func() time.Time
	Log     *slog.Logger
	// Patience bounds how long an endpoint may work on an answer.
	Patience time.Duration
}

// Handle adds an interface to a mux below a prefix: its endpoints, and the
// answers to everything else there.
func (s *Server) Handle(mux *http.ServeMux, prefix string, endpoints []Endpoint) {
	who := s.Limits.Guard(s.Who)
	paths := map[string]*resource{}
	for i := range endpoints {
		e := &endpoints[i]
		if e.Method != http.MethodGet {
			e.Fields = slices.Concat(e.Fields, api.Fields{fieldCode})
		}
		if len(e.Fields) > api.MaxFields {
			bourse.Impossible("endpoint %s has %d fields", e.Path, len(e.Fields))
		}
		r := paths[e.Path]
		if r == nil {
			r = &resource{Server: s, who: who, path: prefix + e.Path, methods: map[string]*Endpoint{}}
			paths[e.Path] = r
			mux.Handle(r.path, r)
		}
		r.methods[e.Method] = e
	}
	nothing := &resource{Server: s, who: who, path: prefix + "/"}
	mux.Handle(prefix, nothing)
	mux.Handle(prefix+"/", nothing)
}

// resource is a path, or all those where there is none.
type resource struct {
	*Server
	// who is Who behind the limit of failures.
	who     api.Authenticator
	path    string
	methods map[string]*Endpoint
}

// ServeHTTP answers a request.
func (r *resource) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	began := r.Clock()
	out := wire.NewWriter(nil)
	status := http.StatusOK
	out.Object()
	kind := "application/json"
	other, err := r.answer(out, w, req)
	switch {
	case err != nil:
		status = r.fail(out, w, req, err)
		out.EndObject()
	case other != nil:
		kind = other.kind
		out.Reset(other.body)
	default:
		out.EndObject()
	}
	r.Observe(r.label(req), status, r.Clock().Sub(began))
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(out.Bytes())))
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the client may be gone
}

// label names what was asked for, out of a bounded set.
func (r *resource) label(req *http.Request) string {
	if r.methods[req.Method] == nil {
		return r.path
	}
	return req.Method + " " + r.path
}

func (r *resource) answer(out *wire.Writer, w http.ResponseWriter, req *http.Request) (*attachment, error) {
	if r.methods == nil {
		return nil, Errorf(InvalidEndpoint, "There is no such endpoint")
	}
	e := r.methods[req.Method]
	if e == nil {
		return nil, Errorf(MethodNotAllowed, "The method cannot be used here")
	}
	ctx, cancel := context.WithTimeout(req.Context(), r.Patience)
	defer cancel()
	c := &Call{
		Call: &api.Call{
			Request: new(api.Request), Context: ctx, Out: out, From: r.From(req), Limits: r.Limits, Class: e.Class,
		},
		http: req, answer: w.Header(),
	}
	if err := r.admit(c, e); err != nil {
		return nil, err
	}

	if err := c.read(w, e); err != nil {
		return nil, err
	}
	if err := e.Answer(c); err != nil {
		if public(err) == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = Errorf(Timeout, "The exchange took too long; it is not known what became of the request")
		}
		return nil, err
	}

	size := len(out.Bytes())
	if c.other != nil {
		size = len(c.other.body)
	}
	r.Limits.ChargeAnswer(e.Class, c.Payer(), size)
	return c.other, nil
}

// admit finds out who is asking, and whether they may. The request is counted
// against its account, or against the source if there is none.
func (r *resource) admit(c *Call, e *Endpoint) error {
	err := r.authenticate(c)
	if !r.Limits.Admit(e.Class, c.Payer()) {
		return api.ErrTooMany
	}

	known := c.Who.Account != 0
	switch {
	case err != nil:
		return err
	case known && e.Guest:
		return Errorf(AlreadyLoggedIn, "The request is for who has no API key")
	case known && !c.Who.Scopes.Has(e.Scope):
		return api.Forbidden(e.Scope)
	case !known && e.Scope != 0:
		return Errorf(Unauthorized, "Authorization is required: no API key was given")
	}
	return nil
}

// authenticate fills Who, also where nobody needs to say.
func (r *resource) authenticate(c *Call) (err error) {
	header := c.http.Header.Values("Authorization")
	if len(header) == 0 {
		return nil
	}

	scheme, secret, _ := strings.Cut(header[0], " ")
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return Errorf(InvalidKey, "The API key is invalid")
	}

	if c.Who, err = r.who.Authenticate(c.Context, account.Secret(strings.TrimSpace(secret)), c.From); err == nil {
		return nil
	}
	c.Who = account.Identity{}
	if known := (*bourse.Error)(nil); errors.As(err, &known) && known.Code == bourse.CodeUnauthorized {
		return Errorf(InvalidKey, "The API key is invalid")
	}
	return err
}

// read reads the parameters. A request without a body has none.
func (c *Call) read(w http.ResponseWriter, e *Endpoint) (err error) {
	if e.Method == http.MethodGet {
		return c.ParseQuery(c.http.URL.RawQuery, e.Fields)
	}
	c.body, err = io.ReadAll(http.MaxBytesReader(w, c.http.Body, api.MaxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return Errorf(ValidationError, "The body is longer than %d bytes", api.MaxBody)
	case err != nil:
		return Errorf(ValidationError, "The body breaks off")
	case len(c.body) == 0:
		return c.ParseQuery("", e.Fields)
	}
	return c.Parse(c.body, e.Fields)
}

// fail leaves the answer for an error in out and returns its status.
func (r *resource) fail(out *wire.Writer, w http.ResponseWriter, req *http.Request, err error) int {
	e := public(err)
	switch {
	case e == nil && req.Context().Err() != nil: // nobody waits for the answer any more
		e = Errorf(ValidationError, "The client has left")
	case e == nil:
		r.Log.Error("request failed", slog.String("endpoint", r.label(req)), slog.Any("error", err))
		e = Errorf(InternalServerError, "Internal error, try again later")
	}
	switch h := w.Header(); e.Code {
	case MethodNotAllowed:
		if r.methods[req.Method] == nil {
			h.Set("Allow", r.allowed())
		}
	case RateLimit:
		h.Set("Retry-After", "1")
	case Unauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	default: // a body says it all
	}
	out.Reset(out.Bytes()[:0])
	out.Object()
	out.Name("error")
	out.Object()
	out.Word("code", string(e.Code))
	out.Text("msg", e.Message)
	out.EndObject()
	return statuses[e.Code]
}

func (r *resource) allowed() string {
	methods := make([]string, 0, len(r.methods)+1)
	for m := range r.methods {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	return strings.Join(append(methods, http.MethodOptions), ", ")
}
