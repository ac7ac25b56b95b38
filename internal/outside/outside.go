package outside

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Output collects a process's stdout and stderr.
type Output struct {
	// Address receives the HOST:PORT on which the exchange listens. It is closed when the
	// process ends.
	Address chan string
	// Metrics is the HOST:PORT of the metrics, empty without them. It is set before
	// Address receives.
	Metrics string
	// Ended is closed when the process has closed both outputs.
	Ended chan struct{}

	mu   sync.Mutex
	said strings.Builder
}

var (
	addressForm = regexp.MustCompile(`msg=serving address=(\S+)`)
	metricsForm = regexp.MustCompile(`msg="serving metrics" address=(\S+)`)
)

// Listen starts a process and reads its output.
func Listen(cmd *exec.Cmd) (*Output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		return nil, err
	}

	o := &Output{Address: make(chan string, 1), Ended: make(chan struct{})}
	go o.read(r)
	return o, nil
}

func (o *Output) read(r io.ReadCloser) {
	defer close(o.Ended)
	defer close(o.Address)
	defer func() { _ = r.Close() }()
	lines := bufio.NewReader(r)
	for told := false; ; {
		line, err := lines.ReadString('\n')
		if at := metricsForm.FindStringSubmatch(line); at != nil && !told {
			o.Metrics = at[1]
		}
		if at := addressForm.FindStringSubmatch(line); at != nil && !told {
			told = true
			o.Address <- at[1]
		}
		o.mu.Lock()
		_, _ = o.said.WriteString(line) // never fails
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Text returns the output so far.
func (o *Output) Text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said.String()
}

// Size returns the bytes of output so far.
func (o *Output) Size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(o.said.Len())
}

// Socket returns a client of the operators' socket in a data directory.
func Socket(data string, timeout time.Duration) *http.Client {
	path := filepath.Join(data, "admin.sock")
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		MaxIdleConnsPerHost: 16,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
}

// Operate calls an operator's verb. A nil into drops the answer; a refusal is an error
// with its text.
func Operate(socket *http.Client, verb string, args, into any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}

	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://admin/"+verb,
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")

	res, err := socket.Do(req)
	if err != nil {
		return err
	}

	out, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}

	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("admin %s: %s: %s", verb, res.Status, out)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}
