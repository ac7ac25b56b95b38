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
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// MaxBody is the longest body that is read, in bytes.
const MaxBody = 64 << 10

// V1 serves the V1 interfaces: POST (or GET) with a JSON object, or where no key is
// needed GET with a query string, answered with status 200 and a JSON object whose
// success says how it went.
type V1 struct {
	Who Authenticator
	// From returns the address that a request came from.
	From func(*http.Request) netip.Addr
	// Limits count requests; nil allows everything.
	Limits *Limiter
	// Observe is told how each request ended and how long it took.
	Observe func(e *Endpoint, status int, success bool, took time.Duration)
	Clock   func() time.Time
	Log     *slog.Logger
	// Patience bounds how long an endpoint may work on an answer.
	Patience time.Duration

	// who is Who behind the limit of failures.
	who   Authenticator
	calls sync.Pool
}

// session is the memory of one request.
type session struct {
	request Request
	out     *wire.Writer
	body    []byte
	// whole is the body of the answer, if it is not in out.
	whole []byte
}

// answered returns the body of the answer.
func (s *session) answered() []byte {
	if s.whole != nil {
		return s.whole
	}
	return s.out.Bytes()
}

// Handle adds endpoints to a mux below a prefix.
func (v *V1) Handle(mux *http.ServeMux, prefix string, endpoints []Endpoint) {
	v.who = v.Limits.Guard(v.Who)
	for i := range endpoints {
		e := &endpoints[i]
		if e.Scope != 0 {
			e.Fields = slices.Concat(Fields{"api_key"}, e.Fields)
		}
		if len(e.Fields) > MaxFields {
			bourse.Impossible("endpoint %s has %d fields", e.Path, len(e.Fields))
		}
		mux.HandleFunc(prefix+e.Path, func(w http.ResponseWriter, r *http.Request) { v.serve(e, w, r) })
	}
}

func (v *V1) serve(e *Endpoint, w http.ResponseWriter, r *http.Request) {
	began := v.Clock()
	s, _ := v.calls.Get().(*session)
	if s == nil {
		s = &session{out: wire.NewWriter(make([]byte, 0, 4096)), body: make([]byte, 0, 4096)}
	}
	status, success := v.answer(e, s, r)
	// How long the client takes to read is not ours to count.
	v.Observe(e, status, success, v.Clock().Sub(began))
	h := w.Header()
	h["Content-Type"] = jsonType
	switch status {
	case http.StatusOK:
		h["Content-Length"] = []string{strconv.Itoa(len(s.answered()))}
		s.send(w)
	case http.StatusTooManyRequests:
		h["Retry-After"] = retryAfter
		w.WriteHeader(status)
	case http.StatusMethodNotAllowed:
		h["Allow"] = allowedV1
		w.WriteHeader(status)
	default:
		w.WriteHeader(status)
	}
	s.whole = nil
	v.calls.Put(s)
}

// send sends the body of the answer. A whole one is not copied by a writer that can
// do without.
func (s *session) send(w http.ResponseWriter) {
	if shared, ok := w.(interface{ WriteShared(p []byte) }); ok && s.whole != nil {
		shared.WriteShared(s.whole)
		return
	}
	_, _ = w.Write(s.answered()) // the client may be gone
}

// answer works on a request and leaves the answer in s.out. It returns the
// status, and whether the answer says success.
func (v *V1) answer(e *Endpoint, s *session, r *http.Request) (status int, success bool) {
	if r.Method != http.MethodPost && r.Method != http.MethodGet {
		return http.StatusMethodNotAllowed, false
	}
	from := v.From(r)
	if e.Scope == 0 && !v.Limits.Admit(e.Class, Payer{Source: from}) {
		return http.StatusTooManyRequests, false
	}

	if err := s.read(r); err != nil {
		var tooLong *http.MaxBytesError
		if errors.As(err, &tooLong) {
			return http.StatusRequestEntityTooLarge, false
		}
		return http.StatusBadRequest, false // it broke off
	}
	ctx, cancel := v.patient(r.Context())
	defer cancel()
	c := Call{
		Request: &s.request, Context: ctx, Out: s.out, From: from, Limits: v.Limits, Class: e.Class, agent: r.UserAgent(),
	}
	s.out.Reset(s.out.Bytes()[:0])
	s.out.Object()
	s.out.Bool("success", true)

	err := v.call(e, &c, r, s.body)
	if err == nil {
		s.out.EndObject()
		s.whole = c.whole
		v.Limits.ChargeAnswer(e.Class, c.Payer(), len(s.answered()))
		return http.StatusOK, true
	}
	if known := (*bourse.Error)(nil); errors.Is(r.Context().Err(), context.Canceled) && !errors.As(err, &known) {
		return http.StatusBadRequest, false // nobody waits for the answer any more
	}
	return v.fail(e, s, err), false
}

// patient bounds a request by our patience, where that is not done already: a
// timer for each request takes more than reading it.
func (v *V1) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && !end.After(v.Clock().Add(v.Patience)) {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, v.Patience)
}

// read reads the body.
func (s *session) read(r *http.Request) error {
	if r.ContentLength > MaxBody {
		return &http.MaxBytesError{Limit: MaxBody}
	}
	s.body = s.body[:0]
	for {
		if len(s.body) == cap(s.body) {
			s.body = slices.Grow(s.body, min(cap(s.body), MaxBody+1))
		}
		n, err := r.Body.Read(s.body[len(s.body):min(cap(s.body), MaxBody+1)])
		s.body = s.body[:len(s.body)+n]
		switch {
		case len(s.body) > MaxBody:
			return &http.MaxBytesError{Limit: MaxBody}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// call reads the request and has it answered. A request that needs a secret is
// counted once that is known: against its account, or against the source if it is
// no good.
func (v *V1) call(e *Endpoint, c *Call, r *http.Request, body []byte) error {
	var err error
	if byQuery := e.Scope == 0 && r.Method == http.MethodGet && len(body) == 0; byQuery {
		err = c.ParseQuery(r.URL.RawQuery, e.Fields)
	} else {
		err = c.Parse(body, e.Fields)
	}
	if e.Scope != 0 {
		if err == nil {
			err = c.authenticate(v.who)
		}
		if !v.Limits.Admit(e.Class, c.Payer()) {
			return ErrTooMany
		}
		if err == nil && !c.Who.Scopes.Has(e.Scope) {
			err = Forbidden(e.Scope)
		}
	}

	if err != nil {
		return err
	}
	return e.Answer(c)
}

// fail leaves the answer for an error in s.out and returns its status.
func (v *V1) fail(e *Endpoint, s *session, err error) int {
	var known *bourse.Error
	var factor *account.FactorError
	switch {
	case errors.As(err, &factor):
		s.refuse(factor.Message)
		s.out.Bool("need_2fa", true)
		s.out.Word("provider_2fa", string(factor.Provider))
		s.out.EndObject()
		return http.StatusOK
	case !errors.As(err, &known):
		v.Log.Error("request failed", slog.String("endpoint", e.Path), slog.Any("error", err))
		return http.StatusInternalServerError
	case known.Code == bourse.CodeBusy:
		return http.StatusTooManyRequests
	}
	s.refuse(known.Message)
	s.out.EndObject()
	return http.StatusOK
}

// refuse begins the answer of a request that failed.
func (s *session) refuse(message string) {
	s.out.Reset(s.out.Bytes()[:0])
	s.out.Object()
	s.out.Bool("success", false)
	s.out.Text("error", message)
}
