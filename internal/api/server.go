package api

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
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// MaxBody bounds the body of a request, in bytes.
const MaxBody = 64 << 10

// Server takes requests of all interfaces through the same steps: find the endpoint, read
// the request, authenticate, count, answer, observe.
type Server struct {
	Who Authenticator
	// Signed checks requests with a signature.
	Signed Verifier
	// From returns the client's address.
	From func(*http.Request) netip.Addr
	// Limits count requests; nil allows everything.
	Limits *Limiter
	// Observe is called with the outcome and duration of each request.
	Observe func(endpoint string, status int, success bool, took time.Duration)
	Clock   func() time.Time
	// After returns a channel that receives after a pause, for answers that flow.
	After func(time.Duration) <-chan time.Time
	Log   *slog.Logger
	// Encoder compresses answers; nil compresses nothing.
	Encoder *coding.Encoder
	// Patience bounds the time of an endpoint, and that of authentication.
	Patience time.Duration
	// Confirm returns nil if this process was still the exchange when it was called, so that an endpoint's earlier reads
	// were current. It is called before each answer; nil for a process that no other one can replace.
	Confirm func(context.Context) error

	sessions sync.Pool
}

// SecretOf returns the secret in a request; false if there is none.
type SecretOf func(c *Call) (account.Secret, bool, error)

// Dialect is the form of an interface's requests and answers.
type Dialect struct {
	// Secret returns the key in a request.
	Secret SecretOf
	// BadSecret replaces the authenticator's error for an invalid key, unless it is nil.
	// NoSecret is the error for a request without a required key.
	BadSecret, NoSecret error
	// SecretInside is set if the key is a field, so that a request is parsed before it is
	// authenticated.
	SecretInside bool
	// Begin starts the answer to a request that is taken.
	Begin func(out *wire.Writer)
	// Fail writes the answer for an error and returns its status. It returns zero and
	// writes nothing if the error is internal.
	Fail func(c *Call, err error) int
}

// The errors of requests that reach no endpoint, and the errors that replace an endpoint's.
var (
	ErrNoEndpoint = bourse.Errorf(bourse.CodeNotFound, "There is no such endpoint")
	ErrMethod     = bourse.Errorf(bourse.CodeInvalid, "The method cannot be used here; Allow names those that can")
	ErrTooLong    = bourse.Errorf(bourse.CodeInvalid, "The body is longer than %d bytes", MaxBody)
	ErrBrokenOff  = bourse.Errorf(bourse.CodeInvalid, "The body breaks off")
	ErrNoSecret   = bourse.Errorf(bourse.CodeUnauthorized, "Authorization is required: no API key was given")
	ErrHasSecret  = bourse.Errorf(bourse.CodeForbidden, "The request is for who has no API key")
	// ErrNoSession is ErrNoSecret for pages.
	ErrNoSession = bourse.Errorf(bourse.CodeUnauthorized, "Log in first: there is no session, or it has ended")
	// ErrLeft is the error for a client that left before the answer.
	ErrLeft = bourse.Errorf(bourse.CodeInvalid, "The client has left")
	// ErrInternal replaces an internal error.
	ErrInternal = bourse.Errorf(bourse.CodeUnavailable, "Internal error, try again later")

	// errSlow is the error for a read that ran out of Patience, errUnknown the one for a
	// command, which may have been taken.
	errSlow    = bourse.Errorf(bourse.CodeUnknown, "The exchange took too long to answer; ask again")
	errUnknown = bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")
	// errOld replaces an answer to a read of a process that may be the exchange no more.
	errOld = bourse.Errorf(bourse.CodeUnknown, "Another node may lead the exchange now; ask again")
	// errWho is the error for a key that was not looked up within Patience.
	errWho = bourse.Errorf(bourse.CodeUnavailable, "The key cannot be looked up now; try again later")
)

// path handles the requests of one path, with its endpoints by method.
type path struct {
	*Server
	*Dialect
	// who wraps Who with the limit of failures.
	who Authenticator
	// signed wraps Signed alike.
	signed Verifier
	// label names the path to Observe if no endpoint matches.
	label   string
	methods map[string]*Endpoint
	allowed []string
}

// Path returns the handler of a path with its endpoints by method; with nil methods it
// answers ErrNoEndpoint.
func (s *Server) Path(d *Dialect, label string, methods map[string]*Endpoint) http.Handler {
	p := &path{
		Server: s, Dialect: d, who: s.Limits.Guard(s.Who), signed: s.Limits.GuardSigned(s.Signed),
		label: label, methods: methods,
	}
	names := make([]string, 0, len(methods)+1)
	for name, e := range methods {
		names = append(names, name)
		if e.label = e.Path; e.Method != "" {
			e.label = e.Method + " " + e.Path
		}
		if len(e.Fields) > MaxFields {
			bourse.Impossible("endpoint %s has %d fields", e.Path, len(e.Fields))
		}
	}

	slices.Sort(names)
	p.allowed = []string{strings.Join(append(names, http.MethodOptions), ", ")}
	return p
}

// session is the reusable memory of one request.
type session struct {
	call Call
	form Form
	out  *wire.Writer
	body []byte
	// encoded is the memory of a compressed answer.
	encoded []byte
}

// ServeHTTP answers a request.
func (p *path) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := p.Clock()
	s, _ := p.sessions.Get().(*session)
	if s == nil {
		s = &session{out: wire.NewWriter(make([]byte, 0, 4096)), body: make([]byte, 0, 4096)}
	}

	c := &s.call
	*c = Call{
		Form: &s.form, Context: r.Context(), Out: s.out, From: p.From(r), Limits: p.Limits,
		HTTP: r, Header: w.Header(), Body: s.body[:0], kind: jsonType,
	}
	label, status, success := p.answer(c) //nolint:contextcheck // steps derive theirs from the request's
	if c.compress {
		s.encoded = c.encode(p.Encoder, s.encoded)
	}
	// The client's reading time is not part of the duration.
	p.Observe(label, status, success, p.Clock().Sub(began))
	if c.flow != nil {
		p.run(c, w)
	} else {
		c.send(w, status)
	}

	// Passwords and new keys do not stay in the pool.
	clear(c.Body)
	clear(s.out.Bytes())
	s.form.forget()
	s.body, s.call = c.Body, Call{}
	p.sessions.Put(s)
}

// patient bounds the next piece of work by Patience unless ctx has such a deadline
// already: a timer for each request costs more than parsing it.
func (p *path) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && !end.After(p.Clock().Add(p.Patience)) {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.Patience)
}

// answer leaves the answer in c. It returns a label from a bounded set, the status, and
// whether the request succeeded.
func (p *path) answer(c *Call) (label string, status int, success bool) {
	e := p.methods[c.HTTP.Method]
	if label = p.label; e != nil {
		label, c.Class = e.label, e.Class
	}

	c.Out.Reset(c.Out.Bytes()[:0])
	p.Begin(c.Out)
	err := p.confirmed(c, p.work(c, e))

	if err == nil {
		c.Out.EndObject()
		c.chargeAnswer()
		c.compress = e.Compress
		return label, http.StatusOK, true
	}

	c.Out.Reset(c.Out.Bytes()[:0])
	if c.flow != nil {
		c.unused()
	}
	c.whole, c.document, c.kind, c.flow = nil, nil, jsonType, nil
	if status = p.Fail(c, err); status != 0 {
		return label, status, false
	}
	switch {
	case errors.Is(c.HTTP.Context().Err(), context.Canceled):
		return label, p.Fail(c, ErrLeft), false
	case errors.Is(c.Context.Err(), context.DeadlineExceeded) && c.Class == Reads:
		return label, p.Fail(c, errSlow), false
	case errors.Is(c.Context.Err(), context.DeadlineExceeded):
		return label, p.Fail(c, errUnknown), false
	}
	p.Log.Error("request failed", slog.String("endpoint", label), slog.Any("error", err))
	return label, p.Fail(c, ErrInternal), false
}

// confirmed returns the error of an endpoint's work, or the one that takes the place of an answer which may be old.
// The answer that a request had no effect depends on this process alone, and is given at once: it is certain, and
// a client beyond its limits is not to hold a connection while no majority answers.
func (p *path) confirmed(c *Call, worked error) error {
	if p.Confirm == nil || WithoutEffect(worked) {
		return worked
	}
	ctx, cancel := p.patient(c.HTTP.Context())
	defer cancel()
	switch {
	case p.Confirm(ctx) == nil:
		return worked
	case c.Class == Reads:
		return errOld
	default:
		return errUnknown
	}
}

// work checks the path and method, takes the request and answers it.
func (p *path) work(c *Call, e *Endpoint) error {
	switch {
	case p.methods == nil:
		return ErrNoEndpoint
	case e == nil:
		c.Header["Allow"] = p.allowed
		return ErrMethod
	}

	if err := p.take(c, e); err != nil {
		return err
	}

	ctx, cancel := p.patient(c.HTTP.Context())
	defer cancel()
	c.Context = ctx
	return e.Answer(c)
}

// take reads and authenticates a request. One with its key in a field or with a signature
// is counted after it is parsed, any other before. The client's time for the body is not
// part of Patience.
func (p *path) take(c *Call, e *Endpoint) error {
	if p.SecretInside && e.takesKey() || isSigned(c.HTTP.Header) {
		if err := c.read(); err != nil {
			return err
		}
		return p.admit(c, e, c.parse(e))
	}

	if err := p.admit(c, e, nil); err != nil {
		return err
	}
	if e.Method != http.MethodGet {
		if err := c.read(); err != nil {
			return err
		}
	}
	return c.parse(e)
}

// admit authenticates a request, counts it and checks its scope. A request counts against
// its account or, without one, its source, even if it is malformed. A signature is checked
// once the request was counted: verifying one costs more than the rest of a request.
func (p *path) admit(c *Call, e *Endpoint, malformed error) error {
	err := malformed
	if err == nil {
		err = p.authenticate(c, e)
	}
	var within bool
	if c.standing, within = c.Limits.admit(e.Class, c.Payer(), 1); !within {
		return bourse.ErrBusy
	}
	if err == nil && c.signed != nil {
		err = p.verify(c, e)
	}

	known := c.Who.Account != 0
	switch {
	case err != nil:
		return err
	case known && e.Guest:
		return ErrHasSecret
	case known && !c.Who.Scopes.Has(e.Scope):
		return Forbidden(e.Scope)
	case !known && e.Scope != 0:
		return p.NoSecret
	}
	return nil
}

// authenticate sets c.Who. That of a signed request is a claim until verify.
func (p *path) authenticate(c *Call, e *Endpoint) error {
	if p.SecretInside && !e.takesKey() {
		return nil
	}

	secret, shown, err := p.Secret(c)
	if err != nil {
		return err
	}
	signed, err := c.readSigned()
	switch {
	case err != nil:
		return err
	case shown && signed != nil:
		return errTwoKeys
	case !shown && signed == nil:
		return nil
	}

	ctx, cancel := p.patient(c.HTTP.Context())
	defer cancel()
	if c.signed = signed; signed != nil {
		c.Who, err = p.signed.Signer(ctx, signed.Key, c.From)
	} else {
		c.Who, err = p.who.Authenticate(ctx, secret, c.From)
	}
	if err == nil {
		return nil
	}

	c.Who, c.signed = account.Identity{}, nil
	if Known(err) == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errWho
	}
	return p.unauthorized(err)
}

// unauthorized returns the interface's own error for an invalid key.
func (p *path) unauthorized(err error) error {
	if p.BadSecret != nil && errors.Is(err, account.ErrUnauthorized) {
		return p.BadSecret
	}
	return err
}

// read reads the body, at most MaxBody bytes.
func (c *Call) read() error {
	if c.HTTP.ContentLength > MaxBody {
		return ErrTooLong
	}

	for {
		if len(c.Body) == cap(c.Body) {
			c.Body = slices.Grow(c.Body, min(cap(c.Body), MaxBody+1))
		}
		n, err := c.HTTP.Body.Read(c.Body[len(c.Body):min(cap(c.Body), MaxBody+1)])
		c.Body = c.Body[:len(c.Body)+n]
		switch {
		case len(c.Body) > MaxBody:
			return ErrTooLong
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return ErrBrokenOff
		}
	}
}

// parse reads the fields from the query or the body.
func (c *Call) parse(e *Endpoint) error {
	switch {
	case e.query(c), e.Query && len(c.Body) == 0:
		return c.ParseQuery(c.HTTP.URL.RawQuery, e.Fields)
	case e.Method != "" && len(c.Body) == 0:
		return c.ParseQuery("", e.Fields)
	}

	err := c.Parse(c.Body, e.Fields)
	if err == nil && e.Query {
		err = c.AddQuery(c.HTTP.URL.RawQuery)
	}
	return err
}

// query reports whether a request has its fields in the query alone.
func (e *Endpoint) query(c *Call) bool {
	get := c.HTTP.Method == http.MethodGet
	if e.Method != "" {
		return get
	}
	return get && e.Scope == 0 && !e.Private && len(c.Body) == 0
}

// answered returns the body of the answer.
func (c *Call) answered() []byte {
	if c.whole != nil {
		return c.whole
	}
	return c.Out.Bytes()
}

// mostEncoded bounds the answers that are compressed for one client, in bytes. Compressing
// as many takes about a millisecond.
const mostEncoded = 256 << 10

// encode compresses the answer if the client wants it so. It uses room, and returns it for
// the next call.
func (c *Call) encode(e *coding.Encoder, room []byte) []byte {
	c.Header["Vary"] = varyEncoding
	body := c.answered()
	chosen := e.Choose(c.HTTP.Header["Accept-Encoding"], len(body))
	switch {
	case chosen == coding.Identity, c.document == nil && len(body) > mostEncoded:
		return room
	case c.document != nil:
		c.encoded = c.document.In(chosen, e)
	default:
		room = e.Encode(chosen, room[:0], body)
		c.encoded = room
	}
	c.Header["Content-Encoding"] = []string{chosen.String()}
	return room
}

// send sends the answer. A writer with WriteShared does not copy a shared body.
func (c *Call) send(w http.ResponseWriter, status int) {
	c.standing.tell(w)
	body, isShared := c.answered(), c.whole != nil
	if c.encoded != nil {
		body, isShared = c.encoded, c.document != nil
	}

	c.Header["Content-Type"] = c.kind
	if len(body) > 0 {
		c.Header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}

	if shared, ok := w.(interface{ WriteShared(p []byte) }); ok && isShared {
		shared.WriteShared(body)
		return
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
	}
	if len(body) > 0 {
		_, _ = w.Write(body) // the client may be gone
	}
}
