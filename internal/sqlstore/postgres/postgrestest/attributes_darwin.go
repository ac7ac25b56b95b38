package postgrestest

import "syscall"

// attributes are those of a server that runs as a user. This system does not end it with
// a test that was killed.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as}
}
