package admin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// socketName is the socket in a data directory.
const socketName = "admin.sock"

// maxPath is the longest path that a Unix socket can have on Linux.
const maxPath = 107

// Path returns where the socket of a data directory is: in it, or, where that
// path is too long for a socket, in the runtime directory under a name that
// follows from it. runtime is XDG_RUNTIME_DIR, or empty.
func Path(data, runtime string) (string, error) {
	abs, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	if path := filepath.Join(abs, socketName); len(path) <= maxPath {
		return path, nil
	}
	if runtime == "" {
		runtime = os.TempDir()
	}
	sum := sha256.Sum256([]byte(abs))
	path := filepath.Join(runtime, fmt.Sprintf("bourse-%x.sock", sum[:8]))
	if len(path) > maxPath {
		return "", fmt.Errorf("%s is too long for a socket", path)
	}
	return path, nil
}

// Listen opens the socket for the user that the exchange runs as. The caller
// holds the lock of the data directory: a socket that is there is left over.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	old := unix.Umask(0o177)
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	unix.Umask(old)
	return l, err
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
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			ctx = context.WithValue(ctx, peerKey{}, cred.Uid)
		}
	})
	return ctx
}
