package hostile

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/outside"
)

var (
	binaryFlag   = flag.String("binary", "", "the bourse command to attack, instead of one that is built")
	detectorFlag = flag.Bool("detector", false, "build the command with the race detector")
)

// patience is the timeout of an answer.
const patience = 30 * time.Second

// exchange is the exchange under attack.
type exchange struct {
	binary, data string
	// address is the HOST:PORT of the API, metrics that of the metrics.
	address, metrics string
	process          *exec.Cmd
	client           *http.Client
	socket           *http.Client
	log              *outside.Output

	mu sync.Mutex
	// secrets must not leave the exchange except in their own answers.
	secrets []string
}

// attacked is the exchange of this run.
var attacked *exchange

func TestMain(m *testing.M) {
	flag.Parse()
	// Slow cases wait for the exchange, so they all run at once.
	_ = flag.Set("test.parallel", "16")
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return complain(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	x := &exchange{binary: filepath.Join(dir, "bourse"), data: filepath.Join(dir, "data"), client: newClient()}
	if err := x.build(); err != nil {
		return complain(err)
	}
	if err := x.start(x.binary, "dev", "--bots=false", "--admin-listen=127.0.0.1:0"); err != nil {
		return complain(err)
	}
	attacked = x
	code := m.Run()
	if err := x.stop(); err != nil {
		return complain(err)
	}
	return code
}

func complain(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, "hostile:", err)
	return 1
}

func newClient() *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
}

// start runs an exchange and keeps its complete log for the search for secrets.
func (x *exchange) start(words ...string) error {
	words = append(words, "--data", x.data, "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log-level", "debug")
	x.process = exec.Command(words[0], words[1:]...)
	var err error
	if x.log, err = outside.Listen(x.process); err != nil {
		return err
	}
	address, ok := <-x.log.Address
	if !ok {
		return fmt.Errorf("the exchange ended:\n%s", x.log.Text())
	}
	x.address, x.metrics = address, x.log.Metrics
	x.socket = outside.Socket(x.data, patience)
	return nil
}

// another starts an exchange for one test and stops it at the test's end.
func another(t *testing.T, words ...string) *exchange {
	t.Helper()
	x := &exchange{binary: attacked.binary, data: filepath.Join(t.TempDir(), "data"), client: newClient()}
	if err := x.start(words...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.stop(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// build builds the command unless it is built.
func (x *exchange) build() (err error) {
	if *binaryFlag != "" {
		x.binary, err = filepath.Abs(*binaryFlag)
		return err
	}
	args := []string{"build", "-o", x.binary}
	if *detectorFlag {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "../../cmd/bourse")...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// stop stops the exchange and checks its journal and log.
func (x *exchange) stop() error {
	_ = x.process.Process.Signal(os.Interrupt)
	if err := x.process.Wait(); err != nil {
		return fmt.Errorf("the exchange ended with %w:\n%s", err, x.log.Text())
	}
	<-x.log.Ended
	if out, err := exec.Command(x.binary, "admin", "--data", x.data, "audit").CombinedOutput(); err != nil {
		return fmt.Errorf("the journal does not agree: %w\n%s", err, out)
	}
	return errors.Join(x.sober(), x.unleaked(x.log.Text()))
}

// sober searches the log for messages that must not be there.
func (x *exchange) sober() error {
	for line := range strings.Lines(x.log.Text()) {
		for _, bad := range []string{"panic", "DATA RACE", "goroutine ", "request failed", "invariant"} {
			if strings.Contains(line, bad) {
				return fmt.Errorf("the log says %s", line)
			}
		}
	}
	return nil
}

// keep adds a secret.
func (x *exchange) keep(secret string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.secrets = append(x.secrets, secret)
}

// unleaked searches output for secrets.
func (x *exchange) unleaked(said string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.secrets {
		if at := strings.Index(said, s); at >= 0 {
			return fmt.Errorf("a secret got out: %.80s", said[max(0, at-40):at])
		}
	}
	return nil
}

// url returns the URL of a path.
func (x *exchange) url(path string) string { return "http://" + x.address + path }

// watch reads a page of the metrics' listener.
func (x *exchange) watch(path string) (string, error) {
	body, err := outside.Get(x.client, "http://"+x.metrics+path)
	return string(body), err
}

// gauge returns the value of a metric.
func (x *exchange) gauge(name string) (float64, error) {
	text, err := x.watch("/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// failures returns the endpoints with status 500.
func (x *exchange) failures() (list []string, err error) {
	text, err := x.watch("/metrics")
	return outside.Failures(text), err
}

// eventually polls until wanted is true, and reports whether it was in time.
func eventually(in time.Duration, wanted func() bool) bool {
	end, every := time.NewTimer(in), time.NewTicker(20*time.Millisecond)
	defer end.Stop()
	defer every.Stop()
	for {
		if wanted() {
			return true
		}
		select {
		case <-end.C:
			return false
		case <-every.C:
		}
	}
}
