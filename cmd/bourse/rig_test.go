package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// built is where the program is built, once, for the tests that run it.
var built string

// binary is the program.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "bourse")
	return path, buildStatic(path)
})

// buildStatic builds the program as it is released, but for the profile, which takes
// minutes.
func buildStatic(path string, environment ...string) error {
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "bourse-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

// server is a running exchange.
type server struct {
	t    *testing.T
	data string
	args []string
	// program is the one to run, if not the one that is built.
	program string
	// under is the command that runs the program, if not the system does.
	under []string
	cmd   *exec.Cmd
	url   string
	log   *bytes.Buffer
	// greeted has the log up to the greeting's end.
	greeted chan string
	// logged is closed when the process has closed its stderr.
	logged chan struct{}
}

// start runs the program on a data directory until it serves.
func start(t *testing.T, data string, args ...string) *server {
	t.Helper()
	return startOf(t, "", data, args...)
}

// startOf runs another program than the one that is built.
func startOf(t *testing.T, program, data string, args ...string) *server {
	t.Helper()
	s := &server{t: t, data: data, args: args, program: program}
	t.Cleanup(func() {
		if s.cmd != nil && s.cmd.ProcessState == nil {
			s.kill()
		}
		if t.Failed() {
			t.Logf("log of the exchange:\n%s", s.log)
		}
	})
	s.start()
	return s
}

func (s *server) start() { s.startAs("dev") }

func (s *server) startAs(command string) {
	s.t.Helper()
	if !s.launch(command) {
		s.t.Fatalf("the exchange did not start:\n%s", s.log)
	}
}

// launch runs the program until it serves, and reports whether it came so far.
func (s *server) launch(command string) bool {
	s.t.Helper()
	path, err := s.program, error(nil)
	if path == "" {
		path, err = binary()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	words := append(slices.Clone(s.under), path, command, "--data", s.data, "--listen", "127.0.0.1:0")
	s.cmd = exec.Command(words[0], append(words[1:], s.args...)...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.log, s.logged, s.greeted = new(bytes.Buffer), make(chan struct{}), make(chan string, 1)
	serving := make(chan string, 1)
	go func() {
		defer close(s.logged)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			_, _ = fmt.Fprintln(s.log, lines.Text())
			if _, address, ok := strings.Cut(lines.Text(), "msg=serving address="); ok {
				serving <- address
			}
			if strings.HasPrefix(lines.Text(), "Stop it with") {
				s.greeted <- s.log.String()
			}
		}
	}()
	select {
	case address := <-serving:
		s.url = "http://" + address
		return true
	case <-s.logged:
		_ = s.cmd.Wait()
		return false
	}
}

// greeting returns what the process printed at its start, up to the blank line at its end.
func (s *server) greeting() string {
	s.t.Helper()
	return <-s.greeted
}

// kill ends the process like a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.logged
	_ = s.cmd.Wait()
}

// stop asks the process to end, and returns its exit code and how long it took.
func (s *server) stop() (int, time.Duration) {
	s.t.Helper()
	began := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	<-s.logged
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode(), time.Since(began)
}

// run runs the program and returns what it printed and its exit code.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return runOf(t, path, args...)
}

// runOf runs another program than the one that is built.
func runOf(t *testing.T, path string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(path, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// tool runs the program, which must succeed, and reads the JSON it prints.
func tool[A any](t *testing.T, args ...string) (answer A) {
	t.Helper()
	stdout, stderr, code := run(t, args...)
	if code != 0 {
		t.Fatalf("bourse %v: exit %d\n%s%s", args, code, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatalf("bourse %v: %v: %s", args, err, stdout)
	}
	return answer
}

// operate runs an admin command of the server.
func operate[A any](s *server, args ...string) A {
	s.t.Helper()
	return tool[A](s.t, append([]string{"admin", "--data", s.data}, args...)...)
}

// audited fails unless the audit of the exchange that runs finds nothing.
func (s *server) audited() {
	s.t.Helper()
	if a := operate[struct{ Violations []any }](s, "audit"); len(a.Violations) > 0 {
		s.t.Errorf("the audit found %v", a.Violations)
	}
}

// customer opens an account with a key and money of the main assets.
func (s *server) customer(name string) (account int, key string) {
	s.t.Helper()
	account = operate[struct{ Account int }](s, "account", "create", name+"@example.org").Account
	id := fmt.Sprint(account)
	made := operate[struct {
		Secret string `json:"api_key"`
	}](s, "key", "create", id, "--name", "test", "--scopes", "read,trade")
	for asset, amount := range map[string]string{"BTC": "1000", "USDT": "100000000"} {
		operate[any](s, "credit", id, asset, amount)
	}
	return account, made.Secret
}

// answer is what every endpoint of the tests may answer.
type answer struct {
	Success bool
	Error   string
	Code    string
	Obid    uint64
	Status  string
	Filled  string
	Order   json.RawMessage
	Orders  []json.RawMessage
	Trades  []json.RawMessage
}

// post asks an endpoint of the spot interface.
func post(client *http.Client, url, path string, body map[string]any) (answer, error) {
	return ask[answer](client, url, path, body)
}

// ask asks an endpoint. An error means that the connection broke: nothing is
// known of the request.
func ask[A any](client *http.Client, url, path string, body map[string]any) (a A, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return a, err
	}
	r, err := client.Post(url+path, "application/json", bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	defer func() { _ = r.Body.Close() }()
	got, err := io.ReadAll(r.Body)
	if err != nil {
		return a, err
	}
	if r.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s: %s", r.Status, got)
	}
	return a, json.Unmarshal(got, &a)
}
