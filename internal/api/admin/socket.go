package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/bourse-exchange/bourse/internal/peer"
)

// socketName is the name of the socket in a data directory.
const socketName = "admin.sock"

// maxPath is the longest path of a Unix socket on Linux.
const maxPath = 107

// reach calls f with a path of the socket that is short enough. A longer one is replaced
// by a path below the open directory in /proc: moving the socket to a temporary directory
// would expose it to other users.
func reach(data string, f func(path string) error) error {
	path := filepath.Join(data, socketName)
	if len(path) <= maxPath {
		return f(path)
	}

	dir, err := os.Open(data) //nolint:gosec // operators say which directory
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	below := fmt.Sprintf("/proc/self/fd/%d", dir.Fd())
	if _, err := os.Stat(below); err != nil {
		return fmt.Errorf("%s is too long for a socket without /proc; use a shorter path: %w", path, err)
	}
	return f(filepath.Join(below, socketName))
}

// Listen opens the socket of a data directory, with access for the exchange's user alone.
// The caller holds the lock of the directory, so an existing socket is stale.
func Listen(ctx context.Context, data string) (net.Listener, error) {
	path := filepath.Join(data, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}

	s := &socket{path: path}
	err := reach(data, func(path string) error {
		l, err := peer.Listen(ctx, path)
		if err == nil {
			s.UnixListener, _ = l.(*net.UnixListener)
			s.SetUnlinkOnClose(false) // its path may be gone at Close
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// socket is the operators' listener.
type socket struct {
	*net.UnixListener
	path string
}

// Close closes the listener and removes the socket's file.
func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if err == nil {
		err = os.Remove(s.path)
	}
	return err
}

// dial connects to the socket of a data directory.
func dial(ctx context.Context, data string) (c net.Conn, err error) {
	err = reach(data, func(path string) error {
		c, err = new(net.Dialer).DialContext(ctx, "unix", path)
		return err
	})
	return c, err
}

// peerKey is the context key of the peer's user id.
type peerKey struct{}

// Peer stores the user id of a connection's peer in its context, as a server's
// ConnContext.
func Peer(ctx context.Context, c net.Conn) context.Context {
	if uid, err := peer.UID(c); err == nil {
		ctx = context.WithValue(ctx, peerKey{}, uid)
	}
	return ctx
}
