package peer

import (
	"context"
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen opens a Unix socket that its owner alone can reach.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	return (&net.ListenConfig{Control: private}).Listen(ctx, "unix", path)
}

// private sets the mode of a socket before its file exists. A umask would apply to the
// whole process, in which other goroutines make directories; a later chmod would leave
// the socket open for a moment.
func private(_, _ string, c syscall.RawConn) error {
	var err error
	control := c.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(control, err)
}
