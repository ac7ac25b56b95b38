package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// Target is a running server to measure.
type Target struct {
	// Address is HOST:PORT.
	Address string
	// Metrics is the address of its metrics; empty if it has none.
	Metrics string
	// PID is its process ID; zero if its CPU time is not measured.
	PID int
	// keys are its clients' API keys; a server without keys accepts any.
	keys []string
	// data is its directory; empty for another program's.
	data string
}

// exchange is an exchange of this program in its own process and directory, which shares
// nothing with the measuring process.
type exchange struct {
	Target

	process *exec.Cmd
	// nodes is the address of its node port; empty if it has none.
	nodes string
	began time.Time
	// took is the time from start to serving.
	took time.Duration
}

// measured returns the target to measure: other, or, if that is nil, an exchange in a
// directory below dir, with funded customers. stop ends that exchange.
func measured(ctx context.Context, dir string, other *Target, customers int) (_ *Target, stop func() error, err error) {
	if other != nil {
		return other, func() error { return nil }, nil
	}
	x, err := startExchange(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	if err := x.open(ctx, customers); err != nil {
		return nil, nil, errors.Join(err, x.stop())
	}
	return &x.Target, x.stop, nil
}

// startExchange starts `bourse bench exchange` in a temporary directory below dir.
func startExchange(ctx context.Context, dir string, flags ...string) (*exchange, error) {
	return launch(ctx, dir, append([]string{"bench", "exchange"}, flags...)...)
}

// launch starts a command of this program that serves an exchange, in a temporary directory below dir.
func launch(ctx context.Context, dir string, words ...string) (*exchange, error) {
	began := time.Now()
	process, data, stderr, err := begin(ctx, dir, (*exec.Cmd).StderrPipe, append(slices.Clip(words), "--data")...)
	if err != nil {
		return nil, err
	}
	x := &exchange{Target: Target{data: data}, process: process, began: began}
	if err := x.servingAt(stderr); err != nil {
		return nil, errors.Join(err, x.stop())
	}
	x.took, x.PID = time.Since(x.began), x.process.Process.Pid
	return x, nil
}

// begin starts a command of this program. Its last argument is a temporary directory below dir, which the caller
// removes. It returns the output that pipe picks.
func begin(
	ctx context.Context, dir string, pipe func(*exec.Cmd) (io.ReadCloser, error), words ...string,
) (process *exec.Cmd, data string, out io.Reader, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", nil, err
	}
	if data, err = os.MkdirTemp(dir, "bourse-bench-"); err != nil {
		return nil, "", nil, err
	}
	process = exec.CommandContext(ctx, self, append(slices.Clip(words), data)...) //nolint:gosec // it is this program
	if out, err = pipe(process); err == nil {
		err = process.Start()
	}
	if err != nil {
		return nil, "", nil, errors.Join(err, os.RemoveAll(data))
	}
	return process, data, out, nil
}

// servingAt reads a log until it names the address that the process serves at. Those of metrics and
// nodes come before.
func (x *exchange) servingAt(log io.Reader) error {
	return saying(log, func(line string) bool {
		if _, at, ok := strings.Cut(line, `msg="serving metrics" address=`); ok {
			x.Metrics = at
		}
		if _, at, ok := strings.Cut(line, `msg="serving nodes" address=`); ok {
			x.nodes = at
		}
		_, at, ok := strings.Cut(line, "msg=serving address=")
		x.Address = at
		return ok
	})
}

// saysFollowing reads a log until it says that the standby follows.
func saysFollowing(log io.Reader) error {
	return saying(log, func(line string) bool { return strings.Contains(line, "msg=following ") })
}

// saying reads a log until a line is the last one wanted, and keeps its pipe drained from then on.
func saying(log io.Reader, last func(line string) bool) error {
	lines := bufio.NewScanner(log)
	var line string
	for lines.Scan() {
		if line = lines.Text(); last(line) {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return nil
		}
	}
	return fmt.Errorf("the process did not start: %s", line)
}

// stop kills the process and removes its files.
func (x *exchange) stop() error {
	_ = x.process.Process.Kill() // it may have ended
	_ = x.process.Wait()         // killed: an error is expected
	return os.RemoveAll(x.data)
}

// money is the credit of each account, for both assets of the traded market.
var money = map[string]string{"BTC": "100000", "USDT": "1000000000"}

// open creates accounts with keys and money.
func (x *exchange) open(ctx context.Context, accounts int) error {
	for i := range accounts {
		var account struct {
			ID uint32 `json:"account"`
		}
		if err := operate(
			ctx, x.data, "account/create", map[string]any{"email": fmt.Sprintf("bench%d@example.org", i)}, &account,
		); err != nil {
			return err
		}

		var key struct {
			Secret string `json:"api_key"`
		}
		if err := operate(
			ctx, x.data, "key/create",
			map[string]any{"account": account.ID, "name": "bench", "scopes": "read,trade"}, &key,
		); err != nil {
			return err
		}
		x.keys = append(x.keys, key.Secret)

		for asset, amount := range money {
			if err := operate(
				ctx, x.data, "credit", map[string]any{"account": account.ID, "asset": asset, "amount": amount}, nil,
			); err != nil {
				return err
			}
		}
	}
	return nil
}

func operate(ctx context.Context, data, verb string, args map[string]any, into any) error {
	answer, err := admin.Call(ctx, data, verb, args)
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// get reads a page of the exchange.
func get(ctx context.Context, address, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	return body, errors.Join(err, answer.Body.Close())
}

// lag returns the number of commands that the history is behind.
func (t *Target) lag(ctx context.Context) (uint64, error) {
	body, err := get(ctx, t.Address, "/readyz")
	if err != nil {
		return 0, err
	}
	var ready struct {
		Lag uint64 `json:"history_lag"`
	}
	return ready.Lag, json.Unmarshal(body, &ready)
}

// allocations returns the number of allocations since the process started; zero without
// metrics.
func (t *Target) allocations(ctx context.Context) (float64, error) {
	if t.Metrics == "" {
		return 0, nil
	}
	body, err := get(ctx, t.Metrics, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		if n, ok := strings.CutPrefix(line, "go_memstats_mallocs_total "); ok {
			return strconv.ParseFloat(strings.TrimSpace(n), 64)
		}
	}
	return 0, nil
}
