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
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/outside"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

var (
	urlFlag      = flag.String("url", "", "examine the exchange at this address instead of starting one")
	storeFlag    = flag.String("store", "sqlite", "what keeps history and accounts of the exchange that is started: sqlite or postgres")
	detectorFlag = flag.Bool("detector", false, "build the exchange with the race detector")
	adminFlag    = flag.String("admin", "", "the admin command of the exchange at -url, such as \"bourse admin --data DIR\"")
)

// examined is the exchange under examination.
var examined *exchange

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
}

func TestMain(m *testing.M) {
	flag.Parse()
	// The checks wait for the disk more than they compute.
	_ = flag.Set("test.parallel", "12")
	os.Exit(run(m))
}

func run(m *testing.M) int {
	e := &exchange{
		url: strings.TrimSuffix(*urlFlag, "/"), client: newClient(), pool: newPool(),
		reservations: newReservations(),
	}
	e.operator.command = strings.Fields(*adminFlag)
	e.marker.exchange = e
	if e.url == "" {
		stop, err := e.start()
		defer stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, "conformance:", err)
			return 1
		}
	}
	examined = e
	code := m.Run()
	if *urlFlag == "" {
		if out, err := e.operator.run([]string{"audit"}); err != nil {
			fmt.Fprintf(os.Stderr, "conformance: the journal does not agree: %v\n%s\n", err, out)
			return 1
		}
	}
	return code
}

func newClient() *http.Client {
	return &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// start builds the binary and runs an exchange without traders. Call stop even after an
// error.
func (e *exchange) start() (stop func(), err error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return func() {}, err
	}
	stop = func() { _ = os.RemoveAll(dir) }
	binary, data := filepath.Join(dir, "bourse"), filepath.Join(dir, "data")
	args := []string{"build", "-o", binary}
	if *detectorFlag {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "../../cmd/bourse")...)
	if out, err := build.CombinedOutput(); err != nil {
		return stop, fmt.Errorf("go build: %w\n%s", err, out)
	}
	args = []string{"dev", "--data", data, "--listen", "127.0.0.1:0", "--bots=false", "--block-time=0"}
	if *storeFlag == "postgres" {
		database, err := postgrestest.Start()
		if err != nil {
			return stop, err
		}
		stop = func() {
			_ = database.Stop()
			_ = os.RemoveAll(dir)
		}
		args = append(args, "--history", database.URL("postgres"), "--accounts", database.URL("postgres"))
	}
	serve, before := exec.Command(binary, args...), stop
	said, err := outside.Listen(serve)
	if err != nil {
		return stop, err
	}
	stop = func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
		before()
	}
	e.operator = operator{[]string{binary, "admin", "--data", data}, outside.Socket(data, 0)}
	return stop, e.await(said)
}

// await waits until the exchange serves.
func (e *exchange) await(said *outside.Output) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	select {
	case address, ok := <-said.Address:
		if !ok {
			return fmt.Errorf("the exchange ended:\n%s", said.Text())
		}
		e.url = "http://" + address
	case <-ctx.Done():
		return errors.New("the exchange says no address")
	}
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
