package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/api/icons"
	"github.com/bourse-exchange/bourse/internal/api/lane"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
	"github.com/bourse-exchange/bourse/internal/describe"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// Bounds of what a connection may ask of the server before it is served.
const (
	readHeaderWithin = 5 * time.Second
	readWithin       = 15 * time.Second
	writeWithin      = 30 * time.Second
	idleFor          = 2 * time.Minute
	maxHeader        = 16 << 10
)

// serve listens until ctx ends or the line fails, then stops what it started. What may
// fail comes before anything listens.
func (n *Node) serve(ctx context.Context) (err error) {
	if n.docs, err = describe.Handler("/docs"); err != nil {
		return err
	}
	visitors, err := n.newGuests()
	if err != nil {
		return err
	}
	startBots, err := n.prepareBots(ctx)
	if err != nil {
		return err
	}
	d, err := n.openDoors(ctx)
	if err != nil {
		return err
	}

	address := d.public.Addr().String()
	if n.PublicURL == "" {
		n.PublicURL = n.scheme() + address
	}
	servers := n.public(d.public, n.server(visitors), visitors) //nolint:contextcheck // a request lives on while the exchange stops
	servers = append(servers, n.private(d)...)
	stopBots := startBots()
	n.ready.Store(true)
	n.Log.Info("serving", slog.String("address", address))
	n.Serving(address)

	select {
	case err = <-n.failed:
		return err // nothing more may leave: the process ends as it is
	case <-ctx.Done():
	}
	return n.stop(context.WithoutCancel(ctx), stopBots, servers...)
}

// doors are what the exchange listens on; metrics is nil if it is not asked for.
type doors struct{ public, socket, metrics net.Listener }

// openDoors opens all of them, or none.
func (n *Node) openDoors(ctx context.Context) (d *doors, err error) {
	d = new(doors)
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()

	if d.public, err = n.listen(ctx); err != nil {
		return d, err
	}
	if d.socket, err = admin.Listen(ctx, n.Data); err != nil {
		return d, fmt.Errorf("admin socket: %w", err)
	}
	if n.MetricsListen != "" {
		if d.metrics, err = new(net.ListenConfig).Listen(ctx, "tcp", n.MetricsListen); err != nil {
			return d, fmt.Errorf("metrics: %w", err)
		}
	}
	return d, nil
}

// close closes those that are open.
func (d *doors) close() error {
	var errs []error
	for _, l := range []net.Listener{d.metrics, d.socket, d.public} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// private starts serving operators and metrics, and returns what serves them.
func (n *Node) private(d *doors) []stoppable {
	operators := &http.Server{
		Handler: n.operators(), ConnContext: admin.Peer, ReadHeaderTimeout: readHeaderWithin, ErrorLog: n.serverLog(),
	}
	n.spawn(func() error { return served(operators.Serve(d.socket)) })
	if d.metrics == nil {
		return []stoppable{operators}
	}

	watchers := &http.Server{
		Handler: n.metricsPages(), ReadHeaderTimeout: readHeaderWithin, IdleTimeout: idleFor, MaxHeaderBytes: maxHeader,
		ErrorLog: n.serverLog(),
	}
	n.spawn(func() error { return served(watchers.Serve(d.metrics)) })
	n.Log.Info("serving metrics", slog.String("address", d.metrics.Addr().String()))
	return []stoppable{operators, watchers}
}

// stoppable is a server that can be asked to end.
type stoppable interface {
	Shutdown(ctx context.Context) error
	Close() error
}

// public starts serving the public interfaces, and returns who does, in the order
// in which they are to be stopped. Encrypted connections are net/http's from the
// beginning.
func (n *Node) public(listener net.Listener, server *http.Server, g *guests) []stoppable {
	if n.TLSCert != "" {
		n.spawn(func() error { return served(server.Serve(listener)) })
		return []stoppable{server}
	}
	plain := &lane.Server{
		Listener: listener, Handler: server.Handler, Prefixes: []string{"/spot/", "/wallet/"}, MaxBody: api.MaxBody,
		Patience: patience, FirstWithin: readHeaderWithin, IdleFor: idleFor, WriteWithin: writeWithin,
		State: g.state, Clock: time.Now, Log: n.Log,
	}
	rest := plain.Rest()
	n.spawn(func() error { return served(server.Serve(rest)) })
	n.spawn(func() error { plain.Serve(); return nil })
	return []stoppable{plain, server}
}

// served turns the end of a server that was asked to end into no error.
func served(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (n *Node) listen(ctx context.Context) (net.Listener, error) {
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", n.Listen)
	if err != nil {
		return nil, err
	}

	if n.TLSCert == "" {
		return bounded{tcp}, nil
	}
	n.certificate = new(atomic.Pointer[tls.Certificate])
	if err := n.loadCertificate(); err != nil {
		return nil, errors.Join(err, tcp.Close())
	}
	return tls.NewListener(bounded{tcp}, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return n.certificate.Load(), nil
		},
	}), nil
}

// sendBuffer bounds what the kernel keeps of an answer that the client does not read,
// in bytes.
const sendBuffer = 128 << 10

// bounded is a listener whose connections have small buffers.
type bounded struct{ net.Listener }

// Accept waits for a connection.
func (b bounded) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // a hint: unread answers end anyhow
	}
	return c, err
}

// loadCertificate reads the certificate, if there is one.
func (n *Node) loadCertificate() error {
	if n.TLSCert == "" {
		return nil
	}
	c, err := tls.LoadX509KeyPair(n.TLSCert, n.TLSKey)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	n.certificate.Store(&c)
	return nil
}

func (n *Node) scheme() string {
	if n.TLSCert != "" {
		return "https://"
	}
	return "http://"
}

// server returns the server of the public interfaces.
func (n *Node) server(g *guests) *http.Server {
	return &http.Server{
		Handler:           n.watchful(api.Transport(n.routes())),
		ReadHeaderTimeout: readHeaderWithin, ReadTimeout: readWithin, WriteTimeout: writeWithin, IdleTimeout: idleFor,
		MaxHeaderBytes: maxHeader, ConnState: g.state,
		ErrorLog: n.serverLog(),
	}
}

func (n *Node) serverLog() *log.Logger { return slog.NewLogLogger(n.Log.Handler(), slog.LevelDebug) }

// routes are all paths of the listener.
func (n *Node) routes() http.Handler {
	v1 := &api.V1{
		Who: n.accounts, From: n.from, Limits: n.limits, Observe: n.metrics.observe,
		Clock: time.Now, Log: n.Log, Patience: patience,
	}
	spot := &spotv1.Spot{
		View: n.view, History: n.reader, Sequencer: n.sequencer, PublicURL: n.PublicURL, DefaultPair: sandbox.DefaultPair,
	}
	money := teller.Teller{
		View: n.view, History: n.reader, Accounts: n.accounts, Sequencer: n.sequencer, Networks: connections{n}, PublicURL: n.PublicURL,
	}
	rest := &v2.Server{
		Who: n.accounts, From: n.from, Limits: n.limits, Observe: n.metrics.observeV2,
		Clock: time.Now, Log: n.Log, Patience: patience,
	}
	mux := http.NewServeMux()
	rest.Handle(mux, "/account/v2", (&accountv2.Account{Accounts: n.accounts}).Endpoints())
	v1.Handle(mux, "/spot", spot.Endpoints())
	v1.Handle(mux, "/wallet", (&walletv1.Wallet{Teller: money}).Endpoints())
	rest.Handle(mux, "/wallet/v2", (&walletv2.Wallet{Teller: money}).Endpoints())
	mux.Handle("/stream", n.streams)
	for path, pages := range map[string]http.Handler{
		"/icons/": icons.Handler(n.view), "/docs": n.docs, "/docs/": n.docs, "/{$}": http.HandlerFunc(n.welcome),
	} {
		mux.Handle(path, n.limits.Metered(n.from, pages))
	}
	mux.HandleFunc("/healthz", n.healthz)
	mux.HandleFunc("/readyz", n.readyz)
	return mux
}

// operators returns the server of the admin socket.
func (n *Node) operators() http.Handler {
	s := &admin.Server{Options: admin.Options{
		Accounts: n.accounts, View: n.view, History: n.reader, Sequencer: n.sequencer, AcceptClock: n.acceptClock, Log: n.Log,
		FormatHash: connections{n}.formatHash, Voids: n.voided(),
	}}
	if n.letters != nil {
		s.Letters = n.letters
	}
	if n.Sandbox {
		s.Devnet = controls{n}
	}
	return s.Handler()
}

// stop ends an exchange in the order in which it was started, the other way
// round: nothing new is taken, what was taken is answered, what follows the
// journal writes its rows, and the journal is sealed.
func (n *Node) stop(ctx context.Context, stopBots func(), servers ...stoppable) error {
	n.Log.Info("stopping")
	n.ready.Store(false)
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	n.refuse(sequencer.Orders, stopping, errStopping)
	n.refuse(sequencer.Cancels, stopping, errStopping)
	stopBots()
	if err := n.settle(ctx); err != nil {
		return err
	}
	n.streams.Close(ctx)
	for _, s := range servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close() // clients that would not end in time
		}
	}
	n.stopLine()
	n.running.Wait()
	if err := n.follower.Finish(ctx); err != nil {
		n.Log.Warn("history is behind; it catches up at the next start", slog.Any("error", err))
	}
	if err := n.log.Close(); err != nil {
		return fmt.Errorf("sealing the journal: %w", err)
	}
	n.stopHeads(ctx)
	n.Log.Info("stopped", slog.Uint64("last_seq", uint64(n.sequencer.Applied())))
	return nil
}

// settle waits until everything that was taken has its outcome.
func (n *Node) settle(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !n.sequencer.Idle() {
		select {
		case err := <-n.failed:
			return err
		case <-ctx.Done():
			return errors.New("stopping took too long; the journal has everything that was acknowledged")
		case <-tick.C:
		}
	}
	return nil
}
