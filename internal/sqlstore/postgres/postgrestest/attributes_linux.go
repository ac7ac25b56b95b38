package postgrestest

import "syscall"

// attributes returns the attributes of a server that runs as a user and ends with the
// test.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
}
