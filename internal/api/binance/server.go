package binance

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Names of headers. Their spelling is not net/http's canonical one.
const (
	headerKey    = "X-Mbx-Apikey"
	headerUnit   = "X-Mbx-Time-Unit"
	headerWeight = "X-MBX-USED-WEIGHT-1M"
	headerUsed   = "X-MBX-USED-WEIGHT"
)

// Header values that every answer shares.
var (
	jsonType = []string{"application/json;charset=UTF-8"}
	exposed  = []string{strings.Join([]string{
		headerWeight, headerUsed, orderWindows[0].header, orderWindows[1].header, "Retry-After",
	}, ", ")}
	varyEncoding = []string{"Accept-Encoding"}
)

// Handle registers the endpoints below a prefix, and the answer to any other path below it.
func (f *Facade) Handle(mux *http.ServeMux, prefix string) {
	paths := map[string]*path{}
	for i := range f.endpoints {
		e := &f.endpoints[i]
		p := paths[e.Path]
		if p == nil {
			p = &path{Facade: f, methods: map[string]*Endpoint{}}
			paths[e.Path] = p
			mux.Handle(prefix+e.Path, p)
		}
		p.methods[e.Method] = e
	}
	for _, p := range paths {
		p.allowed = []string{strings.Join(append(slices.Sorted(maps.Keys(p.methods)), http.MethodOptions), ", ")}
	}
	mux.Handle(prefix+"/", f.Missing())
}

// Missing returns the handler of paths that the interface does not have.
func (f *Facade) Missing() http.Handler { return &path{Facade: f} }

// path handles the requests of one path, with its endpoints by method.
type path struct {
	*Facade
	methods map[string]*Endpoint
	allowed []string
}

// ServeHTTP answers a request.
func (p *path) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	began := p.Clock()
	ctx, cancel := context.WithTimeout(h.Context(), p.Patience)
	defer cancel()

	r := p.Begin(ctx, new(Params), p.From(h))
	r.Out = wire.NewWriter(nil)
	e, label := p.methods[h.Method], "binance"
	if e != nil {
		label = e.Method + " " + e.Path
	}

	err := p.take(w, h, r, e) //nolint:contextcheck // the request has its own
	status := http.StatusOK
	if err != nil {
		status = p.fail(w, r, label, err)
	}
	p.tell(w, r)
	p.Observe(label, status, err == nil, p.Clock().Sub(began))
	p.send(w, h, status, r.Out.Bytes())
}

// take reads, admits and answers a request.
func (p *path) take(w http.ResponseWriter, h *http.Request, r *Request, e *Endpoint) error {
	switch {
	case p.methods == nil:
		return p.count(r, errMissing)
	case e == nil:
		w.Header()["Allow"] = p.allowed
		return p.count(r, errMethod)
	}

	form, err := body(h)
	if err != nil {
		return p.count(r, err)
	}
	params, err := ParseForms(h.URL.RawQuery, form)
	if err != nil {
		return p.count(r, err)
	}
	r.Params = params
	if r.Micro, err = microseconds(h.Header); err != nil {
		return p.count(r, err)
	}
	if err := p.admitSigned(h, r, e, form); err != nil {
		return err
	}
	return p.Do(r, e)
}

// count counts a request that reaches no endpoint, and returns err unless a limit is passed.
func (f *Facade) count(r *Request, err error) error {
	if late := f.weigh(r, 1); late != nil {
		return late
	}
	return err
}

// admitSigned admits a request, and checks its signature if the endpoint needs one. The limit
// of an account is that of the one that the key claims; a signature is checked once the
// request was counted, because that costs more than the rest of most requests.
func (p *path) admitSigned(h *http.Request, r *Request, e *Endpoint, form string) (err error) {
	if e.Security == None || e.State == NotServed {
		return p.Admit(r, e)
	}

	key := h.Header.Get(headerKey)
	if r.Who, err = p.Claim(r.Context, key, r); err != nil {
		return p.count(r, err)
	}
	if err := p.Admit(r, e); err != nil {
		return err
	}
	if e.Security == UserStream {
		return e.Permit(r.Who)
	}
	payload, _ := Payload(h.URL.RawQuery, form)
	if err := p.Verify(r.Context, key, r, e, payload); err != nil {
		return err
	}
	return e.Permit(r.Who)
}

// body returns the form of a request; empty for a GET.
func body(h *http.Request) (string, error) {
	if h.Method == http.MethodGet {
		return "", nil
	}
	if h.ContentLength > api.MaxBody {
		return "", errTooLong
	}
	b, err := io.ReadAll(io.LimitReader(h.Body, api.MaxBody+1))
	switch {
	case err != nil:
		return "", errBrokenOff
	case len(b) > api.MaxBody:
		return "", errTooLong
	}
	return string(b), nil
}

// microseconds reports whether answers have times in microseconds.
func microseconds(h http.Header) (bool, error) {
	switch strings.ToUpper(h.Get(headerUnit)) {
	case "", "MILLISECOND":
		return false, nil
	case "MICROSECOND":
		return true, nil
	}
	return false, Errorf(codeTimeUnit, "Invalid value for time unit; expected either MICROSECOND or MILLISECOND.")
}

// fail writes the answer for an error and returns its status.
func (p *path) fail(w http.ResponseWriter, r *Request, label string, err error) int {
	known := Known(err)
	if known == nil {
		p.Log.Error("request failed", slog.String("endpoint", label), slog.Any("error", err))
		known = errInternal
	}
	if known.HTTP() == http.StatusTooManyRequests || known == errServerBusy {
		w.Header()["Retry-After"] = []string{strconv.Itoa(retryAfter(err))}
	}
	r.Out.Reset(nil)
	WriteError(r.Out, known)
	return known.HTTP()
}

// WriteError writes an error.
func WriteError(out *wire.Writer, e *Error) {
	out.Object()
	out.Int("code", int64(e.Code))
	out.Text("msg", e.Message)
	if e.Data != nil {
		out.Raw("data", e.Data)
	}
	out.EndObject()
}

// retryAfter returns the seconds after which a refused client may try again, at least one.
func retryAfter(err error) int {
	var l *late
	if !errors.As(err, &l) {
		return 1
	}
	return max(int((l.after+time.Second-1)/time.Second), 1)
}

// tell sets the headers of the limits.
func (p *path) tell(w http.ResponseWriter, r *Request) {
	h := w.Header()
	used := []string{strconv.Itoa(r.Weight)}
	h[headerWeight], h[headerUsed] = used, used
	for i, n := range r.Orders {
		if n > 0 {
			h[orderWindows[i].header] = []string{strconv.Itoa(n)}
		}
	}
	h["Access-Control-Expose-Headers"] = exposed
}

// mostEncoded bounds the answers that are compressed, in bytes.
const mostEncoded = 256 << 10

// send sends the answer.
func (p *path) send(w http.ResponseWriter, h *http.Request, status int, answer []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	if r := p.methods[h.Method]; r != nil && r.Security == None {
		header["Vary"] = varyEncoding
		c := p.Encoder.Choose(h.Header["Accept-Encoding"], len(answer))
		if c != coding.Identity && len(answer) <= mostEncoded {
			answer = p.Encoder.Encode(c, nil, answer)
			header["Content-Encoding"] = []string{c.String()}
		}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(answer))}
	w.WriteHeader(status)
	_, _ = w.Write(answer) //nolint:gosec // it is JSON, and the client may be gone
}
