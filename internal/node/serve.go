package node

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/api/lane"
	"github.com/bourse-exchange/bourse/internal/describe"
	"github.com/bourse-exchange/bourse/internal/edge"
)

// Bounds on a connection's times and header size.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 15 * time.Second
	writeWithin      = 30 * time.Second
	idleFor          = 2 * time.Minute
	maxHeader        = 16 << 10
)

// serve listens until ctx ends, then stops the exchange; it returns at once if the line
// fails. Steps that may fail come before the listeners open.
func (n *Node) serve(ctx context.Context) (err error) {
	n.rest = n.newREST()
	n.docs = n.documentation()
	admitted, err := edge.NewAdmission(n.Limits.Connections, n.proxies.Trusts, n.streams.Len, n.Log)
	if err != nil {
		return err
	}
	trade, err := n.traders(ctx)
	if err != nil {
		return err
	}
	l, err := n.openListeners(ctx)
	if err != nil {
		return err
	}

	address := l.public.Addr().String()
	if n.PublicURL == "" {
		n.PublicURL = n.scheme() + address
	}
	if err := errors.Join(n.setParty(l.public.Addr()), n.setDesk(l)); err != nil {
		return errors.Join(err, l.close())
	}
	public := n.server(admitted)                    //nolint:contextcheck // a request lives on while the exchange stops
	servers := n.public(l.public, public, admitted) //nolint:contextcheck // as above
	if n.Gate != nil {
		n.Gate.Open(withRoom(admitted.Room, n.notServed, public.Handler.ServeHTTP), n.shown)
		servers = append(servers, n.Gate)
	}
	servers = append(servers, n.forBots(l, admitted)...)
	servers = append(servers, n.forOperators(l, admitted)...)
	servers = append(servers, n.private(l)...)
	forNodes, err := n.forNodes(l)
	if err != nil {
		return errors.Join(err, l.close())
	}
	servers = append(servers, forNodes...)
	n.spawn(func() error { return n.certificate.Run(ctx) })
	n.spawn(func() error {
		n.office.Remind(ctx)
		n.office.Run(ctx)
		return nil
	})
	stopTraders := func() {}
	if trade != nil {
		stopTraders = background(ctx, trade)
	}
	n.newsDesk.Start()
	n.ready.Store(true)
	n.Log.Info("serving", slog.String("address", address))
	n.Serving(address, n.AdminURL)

	select {
	case err = <-n.failed:
		if n.Member != nil && replaced(err) {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
			defer cancel()
			answerLast(last, servers)
		}
		return err // nothing more may leave: the process ends as it is
	case <-ctx.Done():
	}
	return n.stop(context.WithoutCancel(ctx), context.Cause(ctx), stopTraders, servers...)
}

// documentation returns the handler of the documentation, which is rendered while the exchange serves
// already: orders do not wait for it after a start. Its own requests do.
func (n *Node) documentation() http.Handler {
	var docs http.Handler
	rendered := make(chan struct{})
	n.spawn(func() (err error) {
		if docs, err = describe.Handler("/docs", n.Brand, n.rest.Encoder, n.missing()); err == nil {
			close(rendered)
		}
		return err
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-rendered:
			docs.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// setParty sets what passkeys are bound to. A sandbox's is localhost, because browsers have no
// passkeys for addresses.
func (n *Node) setParty(at net.Addr) (err error) {
	party := n.Passkeys
	if tcp, ok := at.(*net.TCPAddr); ok && n.Sandbox != nil {
		if party, err = account.NewParty("localhost", fmt.Sprintf("http://localhost:%d", tcp.Port)); err != nil {
			return err
		}
	}
	n.accounts.SetParty(party)
	return nil
}

// traders returns the function that trades for a sandbox's traders until its context
// ends; nil without traders.
func (n *Node) traders(ctx context.Context) (trade func(context.Context), err error) {
	if n.Sandbox == nil {
		return nil, nil
	}
	return n.Sandbox.Traders(ctx)
}

// background runs a part on a goroutine. stop ends it and waits for its end.
func background(ctx context.Context, part func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(ctx)
	}()
	return func() { cancel(); <-done }
}

// private starts the servers of operators and metrics, and returns them.
func (n *Node) private(l *listeners) []stoppable {
	operators := &http.Server{
		Handler: n.operators(), ConnContext: admin.Peer, ReadHeaderTimeout: readHeaderWithin, ErrorLog: n.serverLog(),
	}
	n.spawn(func() error { return served(operators.Serve(l.socket)) })
	if l.metrics == nil {
		return []stoppable{operators}
	}

	return []stoppable{operators, n.serveMetrics(l.metrics, n.metrics.registry)}
}

// serveMetrics starts the server of metrics and returns it.
func (n *Node) serveMetrics(l net.Listener, metrics *prometheus.Registry) *http.Server {
	watchers := &http.Server{
		Handler: n.metricsPages(metrics), ReadHeaderTimeout: readHeaderWithin, IdleTimeout: idleFor, MaxHeaderBytes: maxHeader,
		ErrorLog: n.serverLog(),
	}
	n.spawn(func() error { return served(watchers.Serve(l)) })
	n.Log.Info("serving metrics", slog.String("address", l.Addr().String()))
	return watchers
}

// stoppable is a server that can be shut down.
type stoppable interface {
	Shutdown(ctx context.Context) error
	Close() error
}

// public starts the public servers and returns them in the order in which to stop them.
// Package lane takes plain connections first; net/http serves encrypted ones.
func (n *Node) public(listener net.Listener, server *http.Server, a *edge.Admission) []stoppable {
	if n.certificate.Encrypted() {
		n.spawn(func() error { return served(server.Serve(listener)) })
		return []stoppable{server}
	}
	plain := &lane.Server{
		Listener: listener, Handler: server.Handler, Prefixes: []string{"/spot/", "/info/", "/wallet/"}, MaxBody: api.MaxBody,
		Patience: patience, FirstWithin: readHeaderWithin, IdleFor: idleFor, WriteWithin: writeWithin,
		State: a.State, Clock: time.Now, Log: n.Log,
	}
	rest := plain.Rest()
	n.spawn(func() error { return served(server.Serve(rest)) })
	n.spawn(func() error { plain.Serve(); return nil })
	return []stoppable{plain, server}
}

// forBots starts the server of the listener for clients that take a host alone, and returns
// it; none without one.
func (n *Node) forBots(l *listeners, a *edge.Admission) []stoppable {
	if l.bots == nil {
		return nil
	}
	server := n.serverOf(n.botRoutes(), a.State)
	n.spawn(func() error { return served(server.Serve(l.bots)) })
	n.Log.Info("serving bots", slog.String("address", l.bots.Addr().String()))
	return []stoppable{server}
}

// served drops the error of a server that was shut down.
func served(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// server returns the server of the public interfaces.
func (n *Node) server(a *edge.Admission) *http.Server {
	return n.serverOf(n.endingBroken(n.routes()), a.State)
}

// serverOf returns a public server of a handler. state counts its connections.
func (n *Node) serverOf(handler http.Handler, state func(net.Conn, http.ConnState)) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: writeWithin, IdleTimeout: idleFor,
		MaxHeaderBytes: maxHeader, ConnState: state,
		ErrorLog: n.serverLog(),
	}
}

func (n *Node) serverLog() *log.Logger { return slog.NewLogLogger(n.Log.Handler(), slog.LevelDebug) }
