package peer

import (
	"errors"
	"net"
)

var errNoUser = errors.New("the connection has no user: it is not a Unix socket's")

// UID returns the user id of the process at the other end of a Unix socket.
func UID(c net.Conn) (id uint32, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errNoUser
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	control := raw.Control(func(fd uintptr) { id, err = uidOf(int(fd)) })
	return id, errors.Join(control, err)
}
