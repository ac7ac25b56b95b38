package main

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// wire stands between the exchange and its database, and can be cut.
type wire struct {
	// dir is where the exchange finds the database's socket, real that socket.
	dir, real string

	mu       sync.Mutex
	listener net.Listener
	ends     []net.Conn
	broken   bool
	carrying sync.WaitGroup
}

// socketName is what PostgreSQL calls its socket.
const socketName = ".s.PGSQL.5432"

func newWire(t *testing.T, database string) *wire {
	w := &wire{dir: t.TempDir(), real: filepath.Join(database, socketName)}
	must(t, w.mend())
	t.Cleanup(w.cut)
	return w
}

// url returns the URL of a database behind the wire.
func (w *wire) url() string { return "postgres://bourse@/postgres?host=" + url.QueryEscape(w.dir) }

// mend lets connections through.
func (w *wire) mend() error {
	l, err := net.Listen("unix", filepath.Join(w.dir, socketName))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listener, w.broken = l, false
	w.carrying.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			w.carry(near)
		}
	})
	return nil
}

// carry joins a connection with one to the database.
func (w *wire) carry(near net.Conn) {
	far, err := net.Dial("unix", w.real)
	if err != nil {
		_ = near.Close()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		_, _ = near.Close(), far.Close()
		return
	}
	w.ends = append(w.ends, near, far)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		w.carrying.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // until one of them is cut
			_, _ = way[0].Close(), way[1].Close()
		})
	}
}

// cut breaks all connections, in the middle of whatever they say, and lets none
// through.
func (w *wire) cut() {
	w.mu.Lock()
	_ = w.listener.Close()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends, w.broken = nil, true
	w.mu.Unlock()
	w.carrying.Wait()
}
