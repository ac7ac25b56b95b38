package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// server is a PostgreSQL server with default settings: a confirmed commit is on the disk.
type server struct {
	dir     string
	as      *syscall.Credential
	process *exec.Cmd
}

// program returns the path of a PostgreSQL program, empty if it is not installed.
// Distributions keep them out of PATH, in a directory per version.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is valid
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// startServer creates and starts a server with its socket in a temporary directory.
func startServer() (_ *server, err error) {
	s := &server{}
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return nil, err
	}
	if err := errors.Join(s.unprivileged(), s.run()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// unprivileged selects another user for the server if this process is root, because
// PostgreSQL refuses root.
func (s *server) unprivileged() error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, bad := strconv.Atoi(u.Uid)
	gid, worse := strconv.Atoi(u.Gid)
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(bad, worse, os.Chown(s.dir, uid, gid))
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(program(name), args...)
	c.Dir, c.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.as}
	return c
}

// run starts the server and waits until it accepts connections.
func (s *server) run() error {
	data := filepath.Join(s.dir, "data")
	said, err := s.command("initdb", "-D", data, "-U", "bourse",
		"-A", "trust", "-E", "UTF8", "--locale=C").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, said)
	}

	s.process = s.command("postgres", "-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories="+s.dir)
	log, err := s.process.StderrPipe()
	if err != nil {
		return err
	}

	if err := s.process.Start(); err != nil {
		return err
	}

	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "ready to accept connections") {
			go func() { // a full pipe would block the server
				for lines.Scan() {
				}
			}()
			return nil
		}
		said = append(said, lines.Text()+"\n"...)
	}
	return fmt.Errorf("postgres: %w\n%s", s.process.Wait(), said)
}

// url returns the URL of the server's database.
func (s *server) url() string {
	return "postgres://bourse@/postgres?host=" + url.QueryEscape(s.dir)
}

// stop stops the server and removes its files.
func (s *server) stop() error {
	err := s.process.Process.Signal(syscall.SIGINT)
	_ = s.process.Wait() // the exit status of an interrupted server does not matter
	return errors.Join(err, os.RemoveAll(s.dir))
}
