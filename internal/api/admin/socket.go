package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketName is the socket in a data directory.
const socketName = "admin.sock"

// maxPath is the longest path that a Unix socket can have on Linux.
const maxPath = 107

// reach calls f with a path of the socket of a data directory that a socket can have.
// A path that is too long is one below the open directory: the socket is in the data
// directory, whose owner alone may open it, and in no directory that others can write
// to.
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

// Listen opens the socket of a data directory for the user that the exchange runs as.
// The caller holds the lock of the directory: a socket that is there is left over.
func Listen(ctx context.Context, data string) (net.Listener, error) {
	path := filepath.Join(data, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}

	s := &socket{path: path}
	err := reach(data, func(path string) error {
		l, err := (&net.ListenConfig{Control: private}).Listen(ctx, "unix", path)
		if err == nil {
			s.UnixListener, _ = l.(*net.UnixListener)
			s.SetUnlinkOnClose(false) // its path may be gone by then
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// private gives a socket the mode that its file will have. A umask would be the whole
// process's, whose other goroutines make directories meanwhile; and a mode that is set
// once the file is there comes too late.
func private(_, _ string, c syscall.RawConn) error {
	var err error
	control := c.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(control, err)
}

// socket is the operators' listener.
type socket struct {
	*net.UnixListener
	path string
}

// Close ends the listener and removes the socket.
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

// peerKey finds the user id of a connection's other side in its context.
type peerKey struct{}

// Peer notes who is at the other side of a connection; it is for a server's
// ConnContext.
func Peer(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return ctx
	}
	_ = raw.Control(func(fd uintptr) {
		if uid, err := peerUID(int(fd)); err == nil {
			ctx = context.WithValue(ctx, peerKey{}, uid)
		}
	})
	return ctx
}
