package node

import (
	"net/http"
	"net/url"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/pages"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// serveBrowsers registers what our own pages ask for, with a cookie in place of a key.
func (n *Node) serveBrowsers(mux *http.ServeMux, money *teller.Teller) {
	public, err := url.Parse(n.PublicURL)
	if err != nil {
		bourse.Impossible("public URL %q: %v", n.PublicURL, err)
	}
	port := ""
	if n.Sandbox != nil {
		port = public.Port()
	}
	guard := pages.NewGuard(public, n.scheme(), n.Certificate.ACME.Domain)
	sessions := &pages.Sessions{
		Accounts: n.accounts, Who: n.limits.Guard(n.accounts), Cookie: pages.CookieName(port), From: n.proxies.From,
		Now: time.Now,
	}

	web := http.NewServeMux()
	v2.HandlePages(n.rest, web, "/web", sessions.Secret, sessions.Endpoints())
	for prefix, endpoints := range n.v1(money) {
		n.rest.HandlePages(web, "/web/api"+prefix, sessions.Secret, endpoints)
	}
	for prefix, endpoints := range n.v2(money) {
		v2.HandlePages(n.rest, web, "/web/api"+prefix, sessions.Secret, endpoints)
	}
	web.Handle("/web/stream", sessions.Stream(n.streams))
	mux.Handle("/web/", guard.Private(web))
	if n.letters != nil {
		mux.Handle("GET /dev/mail", n.limits.Metered(n.proxies.From, pages.Letters(n.letters, n.proxies.From)))
	}
}
