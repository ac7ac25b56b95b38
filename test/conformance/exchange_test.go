package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/outside"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

var (
	urlFlag      = flag.String("url", "", "examine the exchange at this address instead of starting one")
	storeFlag    = flag.String("store", "sqlite", "what keeps history and accounts of the exchange that is started: sqlite or postgres")
	detectorFlag = flag.Bool("detector", false, "build the exchange with the race detector")
	nodesFlag    = flag.Int("nodes", 1, "number of nodes of the exchange that is started; its leader is examined")
	replicaFlag  = flag.Bool("replica", false, "with -nodes=3: examine a node that does not lead")
	adminFlag    = flag.String("admin", "", "the admin command of the exchange at -url, such as \"bourse admin --data DIR\"")
)

var (
	// examined is the exchange under examination.
	examined *exchange
	// aged returns another one, with traders and a past of days, for the checks of
	// agedChecks. Its first call starts it.
	aged func() (*exchange, error)
	// limited returns one with the limits of production, for limitedChecks. Its first call
	// starts it.
	limited func() (*exchange, error)
	// stops end what the run started.
	stops cleanups
)

// on returns the exchange that a check examines.
func on(c check) (*exchange, error) {
	switch {
	case isIn(agedChecks, c):
		return aged()
	case isIn(limitedChecks, c):
		return limited()
	default:
		return examined, nil
	}
}

// isIn reports whether a check is one of several.
func isIn(checks []check, c check) bool {
	return slices.ContainsFunc(checks, func(one check) bool { return one.name() == c.name() })
}

// exchange is a running exchange with its operator.
type exchange struct {
	url      string
	operator operator
	// client keeps connections open, to save each check the handshakes.
	client *http.Client
	pool   *pool
	marker marker
	// reservations are used by the wallet's checks.
	reservations *reservations
	// cluster is the exchange's nodes, if they are several.
	cluster *cluster
}

func TestMain(m *testing.M) {
	flag.Parse()
	// The checks wait for the disk more than they compute. With unrest they are to end before the leader changes.
	parallel := "12"
	if *unrestFlag {
		parallel = "4"
	}
	_ = flag.Set("test.parallel", parallel)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}
	stops.add(func() { _ = os.RemoveAll(dir) })
	defer stops.run()

	examined = newExchange()
	examined.url = strings.TrimSuffix(*urlFlag, "/")
	examined.operator.command = strings.Fields(*adminFlag)
	if *urlFlag != "" {
		aged = func() (*exchange, error) { return examined, nil }
		limited = aged
		return m.Run()
	}

	if err := examined.build(dir); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}
	aged = sync.OnceValues(func() (*exchange, error) {
		e := newExchange()
		return e, e.start(dir, "aged", agingFor)
	})
	limited = sync.OnceValues(func() (*exchange, error) {
		e := newExchange()
		return e, e.start(dir, "limited", startingFor, "--bots=false", "--limits=production")
	})
	if err := examined.start(dir, "data", startingFor, "--bots=false"); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}

	code := m.Run()
	if err := calm(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance: unrest:", err)
		return 1
	}
	if out, err := examined.operator.run([]string{"audit"}); err != nil {
		fmt.Fprintf(os.Stderr, "conformance: the journal does not agree: %v\n%s\n", err, out)
		return 1
	}
	return code
}

// Bounds of a start: of an exchange without a past, and of one that first makes days of it.
const (
	startingFor = 30 * time.Second
	agingFor    = 5 * time.Minute
)

// cleanups are the functions to call at the end of the run. Safe for concurrent use.
type cleanups struct {
	mu   sync.Mutex
	list []func()
}

func (c *cleanups) add(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, f)
}

// run calls the functions, the last one first.
func (c *cleanups) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range slices.Backward(c.list) {
		f()
	}
}

func newExchange() *exchange {
	e := &exchange{client: newClient(), pool: newPool(), reservations: newReservations()}
	e.marker.exchange = e
	return e
}

func newClient() *http.Client {
	return &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// build builds the binary in a directory.
func (e *exchange) build(dir string) error {
	args := []string{"build", "-o", filepath.Join(dir, "bourse")}
	if *detectorFlag {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "../../cmd/bourse")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// start runs the binary of a directory on a data directory there until the end of the
// run, and waits at most within until it serves.
func (e *exchange) start(dir, name string, within time.Duration, more ...string) error {
	binary, data := filepath.Join(dir, "bourse"), filepath.Join(dir, name)
	args := append([]string{"dev", "--data", data, "--listen", "127.0.0.1:0", "--block-time=0"}, more...)
	if *storeFlag == "postgres" {
		database, err := postgrestest.Start()
		if err != nil {
			return err
		}
		stops.add(func() { _ = database.Stop() })
		args = append(args, "--history", database.URL("postgres"), "--accounts", database.URL("postgres"))
	}

	serve := exec.Command(binary, args...)
	stops.add(func() {
		if serve.Process != nil {
			_ = serve.Process.Signal(os.Interrupt)
			_ = serve.Wait()
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if *nodesFlag > 1 {
		nodes, err := launchNodes(serve, data)
		if err != nil {
			return err
		}
		e.url, e.cluster, e.operator.cluster = nodes.url(), nodes, nodes
		if err := e.await(ctx); err != nil || !*unrestFlag {
			return err
		}
		nodes.disturb(name)
		return nil
	}
	address, err := launch(ctx, serve)
	if err != nil {
		return err
	}
	e.url = "http://" + address
	e.operator = operator{command: []string{binary, "admin", "--data", data}, socket: outside.Socket(data, 0)}
	return e.await(ctx)
}

// launch starts an exchange and returns its address.
func launch(ctx context.Context, serve *exec.Cmd) (address string, err error) {
	said, err := outside.Listen(serve)
	if err != nil {
		return "", err
	}
	select {
	case address, ok := <-said.Address:
		if !ok {
			return "", fmt.Errorf("the exchange ended:\n%s", said.Text())
		}
		return address, nil
	case <-ctx.Done():
		return "", errors.New("the exchange says no address")
	}
}

// await waits until the exchange serves.
func (e *exchange) await(ctx context.Context) error {
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		res, err := e.client.Get(e.url + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("the exchange does not become ready")
		case <-every.C:
		}
	}
}
