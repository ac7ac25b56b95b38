package node

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/web"
)

// serveBrowsers registers what our own pages ask for, with a cookie in place of a key, and
// returns the pages.
func (n *Node) serveBrowsers(mux *http.ServeMux, money *teller.Teller) *web.Pages {
	public, err := url.Parse(n.PublicURL)
	if err != nil {
		bourse.Impossible("public URL %q: %v", n.PublicURL, err)
	}
	guard := browser.NewGuard(public, n.scheme(), n.Certificate.ACME.Domain)
	sessions := &browser.Sessions{
		Accounts: n.accounts, Cookie: browser.CookieName(n.cookieMark(public)), From: n.proxies.From,
		Sandbox: n.Sandbox != nil, Now: time.Now,
	}

	own := http.NewServeMux()
	v2.HandlePages(n.rest, own, "/web", sessions.Secret, sessions.Endpoints())
	for prefix, endpoints := range n.v1(money) {
		n.rest.HandlePages(own, "/web/api"+prefix, sessions.Secret, sessions.NeedTerms(endpoints))
	}
	for prefix, endpoints := range n.v2(money) {
		v2.HandlePages(n.rest, own, "/web/api"+prefix, sessions.Secret, sessions.NeedTermsV2(endpoints))
	}
	v2.Register(n.rest, own, "/web", n.newPages().Endpoints())
	own.Handle("/web/stream", sessions.Stream(n.streams))
	mux.Handle("/web", guard.Private(own)) // without it the mux would redirect
	mux.Handle("/web/", guard.Private(own))
	if n.letters != nil {
		mux.Handle("GET /dev/mail", n.metered(browser.Letters(n.letters, n.proxies.From)))
	}
	return web.New(n.Brand, n.Languages, n.rest.Encoder, n.metered, guard.Headers)
}

// cookieMark returns the mark of a sandbox in the names of its cookies: the port of its URL, or, because nodes of a cluster are reached at
// a port each and one of them leads after the other, the beginning of the exchange's id.
func (n *Node) cookieMark(at *url.URL) string {
	switch {
	case n.Sandbox == nil:
		return ""
	case n.Member != nil:
		return hex.EncodeToString(n.identity.Exchange[:4])
	default:
		return at.Port()
	}
}

// metered limits a handler that needs no key by the source of its requests.
func (n *Node) metered(h http.Handler) http.Handler { return n.limits.Metered(n.proxies.From, h) }
