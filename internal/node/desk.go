package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/api/operatorv1"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/web"
)

// The errors of settings of the operators' interface.
var (
	errDeskOpen = errors.New("admin-listen: an address that other machines reach needs TLS: " +
		"a certificate of the exchange, or admin-tls-cert and admin-tls-key")
	errDeskURL = errors.New("admin-url: the URL that operators open, as https://desk.example.com, must be set " +
		"unless admin-listen is of this machine alone")
	errDeskParty = errors.New("admin-url: customers' pages, by public-url or passkeys-origins, must have another name that is " +
		"not below it, because they could use operators' passkeys")
)

// checkDesk refuses settings of the operators' interface that would make it no door of its own.
func (o *Options) checkDesk() error {
	if o.AdminListen == "" {
		return nil
	}
	local := edge.IsLoopback(o.AdminListen)
	switch {
	case !local && !o.AdminCertificate.Encrypted() && !o.Certificate.Encrypted():
		return errDeskOpen
	case o.AdminURL == "" && !local:
		return errDeskURL
	case o.AdminURL == "":
		return nil
	}

	desk, err := url.Parse(o.AdminURL)
	if err != nil {
		return errDeskURL
	}
	if _, err := account.NewParty(desk.Hostname(), o.AdminURL); err != nil {
		return fmt.Errorf("admin-url: %w", err)
	}
	pages := o.Passkeys.Origins()
	for _, page := range append(pages, o.PublicURL) {
		if u, err := url.Parse(page); err == nil && isBelow(u.Hostname(), desk.Hostname()) {
			return errDeskParty
		}
	}
	return nil
}

// isBelow reports whether a host is a domain or below it.
func isBelow(host, domain string) bool {
	return strings.EqualFold(host, domain) || strings.HasSuffix(strings.ToLower(host), "."+domain)
}

// openDeskCertificate opens the certificate of the operators' listener: its own, or the exchange's.
func (n *Node) openDeskCertificate() (err error) {
	n.deskCertificate = n.certificate
	if n.AdminCertificate.Encrypted() {
		n.deskCertificate, err = certificate.Open(n.AdminCertificate, n.Data, n.Log)
	}
	return err
}

// listenDesk opens the listener of operators.
func (n *Node) listenDesk(ctx context.Context) (net.Listener, error) {
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", n.AdminListen)
	if err != nil {
		return nil, err
	}
	if !n.deskCertificate.Encrypted() {
		return bounded{tcp}, nil
	}
	return tls.NewListener(bounded{tcp}, n.deskCertificate.Config()), nil
}

// setDesk sets the name and origin of the operators' interface, from its settings alone.
func (n *Node) setDesk(l *listeners) error {
	if l.desk == nil {
		return nil
	}
	tcp, _ := l.desk.Addr().(*net.TCPAddr)
	if n.AdminURL == "" && tcp != nil {
		scheme := "http"
		if n.deskCertificate.Encrypted() {
			scheme = "https"
		}
		n.AdminURL = fmt.Sprintf("%s://localhost:%d", scheme, tcp.Port)
	}
	desk, err := url.Parse(n.AdminURL)
	if err != nil {
		return err
	}
	party, err := account.NewParty(desk.Hostname(), n.AdminURL)
	if err != nil {
		return fmt.Errorf("admin-url: %w", err)
	}
	n.office.SetParty(party)
	n.deskHost = desk.Host
	return nil
}

// deskRoutes returns the handler of the operators' listener. Its limits are its own: customers
// keep no operator out.
func (n *Node) deskRoutes() http.Handler {
	at, err := url.Parse(n.AdminURL)
	if err != nil {
		bourse.Impossible("URL of operators %q: %v", n.AdminURL, err)
	}
	desk := &operatorv1.Desk{
		Operators: n.office, Verbs: n.verbs(), Cookie: browser.OperatorCookieName(n.cookieMark(at)), Sandbox: n.Sandbox != nil,
		Now: time.Now,
	}
	rest := n.newREST()
	rest.Who, rest.Signed, rest.Limits = n.office, nil, api.NewLimiter(n.Limits, time.Now)

	mux := http.NewServeMux()
	v2.HandlePages(rest, mux, operatorv1.Prefix, desk.Secret, desk.Endpoints())

	guard := browser.NewStrictGuard(at)
	metered := func(h http.Handler) http.Handler { return rest.Limits.Metered(n.proxies.From, h) }
	console := web.NewConsole(n.Brand, n.Languages, rest.Encoder, metered, guard.Headers)
	mux.Handle("/", console.Missing(v2.Missing(rest)))
	return n.endingBroken(guard.Named(console.Before(guard.Private(mux))))
}

// forOperators starts the server of the operators' listener, and returns it; none without one.
func (n *Node) forOperators(l *listeners, a *edge.Admission) []stoppable {
	if l.desk == nil {
		return nil
	}
	server := n.serverOf(n.deskRoutes(), a.StateOfOperators)
	n.spawn(func() error { return served(server.Serve(l.desk)) })
	n.Log.Info("serving operators", slog.String("address", l.desk.Addr().String()), slog.String("url", n.AdminURL))
	return []stoppable{server}
}
