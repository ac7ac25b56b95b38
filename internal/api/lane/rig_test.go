package lane_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/api/lane"
)

var errNoFiles = errors.New("there are no files left")

// pipes is a listener whose connections are pipes, for use in a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		if c == nil {
			return nil, errNoFiles
		}
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// server serves a handler by lane and net/http.
type server struct {
	*lane.Server
	rest *http.Server
	done chan error
}

func serve(listener net.Listener, handler http.Handler) *server {
	s := &server{
		Server: &lane.Server{
			Listener: listener, Handler: handler, Prefixes: []string{"/spot/"}, MaxBody: 64 << 10,
			Patience: 10 * time.Second, FirstWithin: 5 * time.Second, IdleFor: time.Minute, WriteWithin: 10 * time.Second,
			State: func(net.Conn, http.ConnState) {}, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
		},
		rest: restServer(handler), done: make(chan error, 1),
	}
	rest := s.Rest()
	go func() { s.done <- s.rest.Serve(rest) }()
	go s.Serve()
	return s
}

func restServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
}

// stop stops both servers in the exchange's order.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := s.rest.Shutdown(context.Background()); err != nil {
		t.Errorf("shutdown of net/http: %v", err)
	}
	s.wait(t)
}

// wait waits until net/http has ended.
func (s *server) wait(t *testing.T) {
	t.Helper()
	if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("net/http ended with %v", err)
	}
}

// echo answers with the fields of the request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	w.Header().Set("B-Line", "one\r\ntwo")
	w.Header().Add("A-Twice", "1")
	w.Header().Add("A-Twice", "2")
	switch r.Header.Get("Want") {
	case "length":
		w.Header().Set("Content-Length", "2")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	case "empty":
		w.WriteHeader(http.StatusTooManyRequests)
	case "nothing":
		w.WriteHeader(http.StatusNoContent)
		_, _ = w.Write([]byte("refused"))
	case "panic":
		panic(http.ErrAbortHandler)
	default:
		_, _ = fmt.Fprintf(w, "%s %s %s %s %q %d %d %q %v\n", r.Method, r.RequestURI, r.URL.Path, r.Host, r.URL.RawQuery, r.ContentLength, len(body), body[:min(len(body), 100)], err)
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			_, _ = fmt.Fprintf(w, "%s: %q\n", name, r.Header[name])
		}
	}
}
