package postgrestest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// Need skips a test on a machine without PostgreSQL.
func Need(t testing.TB) {
	t.Helper()
	_, err := program("initdb")
	needs.That(t, "PostgreSQL", err == nil)
}

// program returns the path of one of the server's programs. Distributions keep them out
// of PATH, in one directory for each version.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is well formed
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is not installed")
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}

// version returns the version in a path of program.
func version(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

// Server is a running server.
type Server struct {
	// Dir is the directory of its socket.
	Dir  string
	data string
	as   *syscall.Credential
	// process is the server's process. ended is closed when it ends.
	process *os.Process
	ended   chan struct{}
	// databases counts the created databases.
	databases int
}

// Start creates and starts a server. The caller stops it.
func Start() (_ *Server, err error) {
	s := &Server{}
	if s.as, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.Dir, err = os.MkdirTemp("", "pg"); err != nil {
		return nil, err
	}

	s.data = filepath.Join(s.Dir, "data")
	if s.as != nil {
		err = os.Chown(s.Dir, int(s.as.Uid), int(s.as.Gid))
	}
	if err == nil {
		err = s.initialize()
	}
	if err == nil {
		err = s.Run()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.Dir))
	}
	return s, nil
}

// unprivileged returns the user that a server runs as; nil means this process's user.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // the documented way to say so
	}
	var err error
	for _, name := range [...]string{"postgres", "nobody"} {
		var u *user.User
		if u, err = user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, err
}

// command returns a command that runs one of the server's programs.
func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	path, err := program(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...) //nolint:noctx // it ends by itself, or with this process
	cmd.Dir = s.Dir
	cmd.SysProcAttr = attributes(s.as)
	return cmd, nil
}

// initialize creates the server's files.
func (s *Server) initialize() error {
	cmd, err := s.command("initdb", "-D", s.data, "-U", "bourse", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync")
	if err != nil {
		return err
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, said)
	}
	return nil
}

// Run starts a stopped server, and waits until it accepts connections.
func (s *Server) Run() error {
	cmd, err := s.command("postgres", "-D", s.data, "-c", "listen_addresses=", "-c", "unix_socket_directories="+s.Dir,
		"-c", "fsync=off", "-c", "shared_buffers=64MB", "-c", "log_min_messages=log")
	if err != nil {
		return err
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}

	started := make(chan error)
	s.ended = make(chan struct{})
	go func() {
		// The server ends with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(s.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			attend(cmd, said, started)
		}
	}()

	if err := <-started; err != nil {
		return err
	}
	s.process = cmd.Process
	return <-started
}

// attend reports on ready that a server accepts connections, or that it failed, and waits
// for its end.
func attend(cmd *exec.Cmd, said io.Reader, ready chan<- error) {
	var log strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "database system is ready to accept connections") {
			ready <- nil
			_, _ = io.Copy(io.Discard, said) // ends with the server
			_ = cmd.Wait()                   // fails, because the server is killed
			return
		}
		log.WriteString(lines.Text() + "\n")
	}
	ready <- fmt.Errorf("the server ended: %w\n%s", cmd.Wait(), log.String())
}

// Kill ends the server as a crash does: it loses unconfirmed writes, and recovers at the
// next Run.
func (s *Server) Kill() error {
	if err := s.process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	<-s.ended
	return nil
}

// Stop ends the server and removes its directory.
func (s *Server) Stop() error { return errors.Join(s.Kill(), os.RemoveAll(s.Dir)) }

// URL returns the URL of a database.
func (s *Server) URL(database string) string {
	return "postgres://bourse@/" + database + "?host=" + url.QueryEscape(s.Dir)
}

// Database creates a database and returns its URL. Not safe for concurrent use.
func (s *Server) Database(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return "", err
	}
	s.databases++
	name := "test" + strconv.Itoa(s.databases)
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
	return s.URL(name), errors.Join(err, conn.Close(ctx))
}
