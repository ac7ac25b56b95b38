package postgrestest

import "syscall"

// attributes returns the attributes of a server that runs as a user. This system does not
// end the server when a test is killed.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as}
}
