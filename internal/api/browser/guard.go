package browser

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/edge"
)

// Guard refuses requests to the paths of our own pages that come from elsewhere.
type Guard struct {
	// origin and host are those of the public URL, scheme is the one of the listener.
	origin, host, scheme string
	// names are the host names that lead here, beside those of [edge.LeadsHere].
	names []string
	cross *http.CrossOriginProtection
	// only is set if no name and no origin but those of the public URL lead here, for a public URL
	// that is no name of this machine alone.
	only bool

	Headers
}

// NewGuard returns a guard for an exchange with a public URL, other host names, and a
// listener with a scheme such as "https://".
func NewGuard(public *url.URL, scheme string, names ...string) *Guard {
	g := &Guard{
		origin: public.Scheme + "://" + public.Host, host: public.Hostname(), scheme: scheme, names: append(names, public.Hostname()),
		cross: http.NewCrossOriginProtection(), Headers: Headers{Encrypted: public.Scheme == "https"},
	}
	if err := g.cross.AddTrustedOrigin(g.origin); err != nil {
		bourse.Impossible("origin %q: %v", g.origin, err)
	}
	return g
}

// NewStrictGuard returns a guard for a listener that only the public URL leads to. Host and origin
// are never taken from a request; a URL of this machine alone has all names of the machine's
// loopback.
func NewStrictGuard(public *url.URL) *Guard {
	g := NewGuard(public, public.Scheme+"://")
	g.only = !edge.IsLoopback(public.Host)
	return g
}

var (
	errHost = api.Errorf(codes.Forbidden,
		"Host is not one of this exchange's names; its setting public-url adds one")
	errOrigin = api.Errorf(codes.Forbidden, "The request comes from a page of another origin")
	errType   = api.Errorf(codes.ValidationError, "Content-Type: must be application/json")
)

// Private passes the requests of our own pages on, whose answers are private.
func (g *Guard) Private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.SetPrivate(w.Header())
		if err := g.check(r); err != nil {
			v2.Refuse(w, err)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// Named passes requests that name a host of this exchange. A page that a link of another origin
// leads to needs no more; its own requests are behind Private.
func (g *Guard) Named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.isNamed(r) {
			g.SetPrivate(w.Header())
			v2.Refuse(w, errHost)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// isNamed reports whether a request names a host of this exchange.
func (g *Guard) isNamed(r *http.Request) bool {
	return (!g.only || strings.EqualFold(edge.HostName(r.Host), g.host)) && edge.LeadsHere(r, g.names...)
}

// check returns the reason to refuse a request; nil to pass it. Host is checked because a
// name of a stranger may lead here, and its pages would be of our origin.
func (g *Guard) check(r *http.Request) error {
	switch {
	case !g.isNamed(r):
		return errHost
	case g.cross.Check(r) != nil || !g.ours(r) || isForeign(r.Header):
		return errOrigin
	case r.ContentLength != 0 && !isJSON(r.Header):
		return errType
	}
	return nil
}

// isForeign reports whether a browser tells that a page of another origin asked. A page of
// another port or host of the site sends our cookie even when it reads: it gets no answer, but
// would spend the limits of the account.
func isForeign(h http.Header) bool {
	site := h.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// ours reports whether the header Origin, if there is one, names the origin of our pages. An
// upgrade to a WebSocket must have it: browsers send one across origins with cookies, and let
// the page read the messages.
func (g *Guard) ours(r *http.Request) bool {
	switch origin := r.Header["Origin"]; len(origin) {
	case 0:
		return r.Header.Get("Upgrade") == ""
	case 1:
		return origin[0] == g.origin || !g.only && origin[0] == g.scheme+r.Host && !g.byTLSAlone(r)
	}
	return false
}

// byTLSAlone reports whether Host is that of a public URL of TLS: who sits on the way can put
// pages of that host without TLS into a browser.
func (g *Guard) byTLSAlone(r *http.Request) bool {
	return g.Encrypted && strings.EqualFold(edge.HostName(r.Host), g.host)
}

// isJSON reports whether a body is declared as JSON, which pages of other origins cannot do
// without asking first.
func isJSON(h http.Header) bool {
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, given := parameters["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}
