package abuse

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/outside"
)

var (
	binaryFlag = flag.String("binary", "", "the bourse command to attack, instead of one that is built")
	fullFlag   = flag.Bool("full", false, "compare the honest ACK with windows in which the crowds ask for /healthz")
	onlyFlag   = flag.String("only", "", "carry out only the attacks whose names contain this")
	windowFlag = flag.Duration("window", 0, "how long a window is; 0 for the usual time")
	pairsFlag  = flag.Int("pairs", 2, "how many pairs of windows the full form has for each attack")
)

// patience is the timeout of an answer.
const patience = 30 * time.Second

// binary is the command under attack.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "abuse")
	if err != nil {
		return complain(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	if binary, err = filepath.Abs(*binaryFlag); *binaryFlag == "" {
		binary = filepath.Join(dir, "bourse")
		out, failed := exec.Command("go", "build", "-o", binary, "../../cmd/bourse").CombinedOutput()
		if err = failed; err != nil {
			err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if err != nil {
		return complain(err)
	}
	return m.Run()
}

func complain(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, "abuse:", err)
	return 1
}

// exchange is a running exchange.
type exchange struct {
	data string
	// address is the HOST:PORT of the API, metrics that of the metrics.
	address, metrics string
	process          *exec.Cmd
	socket           *http.Client
	log              *outside.Output
	// full is set if the disk was full, which V2 reports with status 500.
	full bool
}

// start runs an exchange on a data directory until stop.
func start(t *testing.T, data string, options ...string) *exchange {
	t.Helper()
	x := &exchange{data: data}
	words := append([]string{"dev", "--limits=production", "--bots=false", "--data", data, "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, options...)
	x.process = exec.Command(binary, words...)
	var err error
	if x.log, err = outside.Listen(x.process); err != nil {
		t.Fatal(err)
	}
	address, ok := <-x.log.Address
	if !ok {
		_ = x.process.Wait()
		t.Fatalf("the exchange ended:\n%s", x.log.Text())
	}

	x.address, x.metrics = address, x.log.Metrics
	x.socket = outside.Socket(data, patience)
	return x
}

// stop stops the exchange and checks its journal and log.
func (x *exchange) stop(t *testing.T) {
	t.Helper()
	failed, err := x.failures()
	if err != nil || len(failed) > 0 && !x.full {
		t.Errorf("requests that failed: %v %v", failed, err)
	}
	_ = x.process.Process.Signal(os.Interrupt)
	if err := x.process.Wait(); err != nil {
		t.Errorf("the exchange ended with %v:\n%.4000s", err, x.log.Text())
	}
	<-x.log.Ended

	if out, err := exec.Command(binary, "admin", "--data", x.data, "audit").CombinedOutput(); err != nil {
		t.Errorf("the journal does not agree: %v\n%s", err, out)
	}
	for line := range strings.Lines(x.log.Text()) {
		for _, bad := range []string{"panic", "goroutine ", "request failed", "invariant"} {
			if strings.Contains(line, bad) {
				t.Errorf("the log says %s", line)
			}
		}
	}
}

// watch reads a page of the metrics' listener.
func (x *exchange) watch(path string) (string, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	body, err := outside.Get(client, "http://"+x.metrics+path)
	return string(body), err
}

// failures returns the endpoints with status 500.
func (x *exchange) failures() (list []string, err error) {
	text, err := x.watch("/metrics")
	return outside.Failures(text), err
}

// seq returns the sequence of the last applied command.
func (x *exchange) seq(t *testing.T) uint64 {
	t.Helper()
	a, err := request(clientFrom("127.0.0.1", false), http.MethodGet, "http://"+x.address+"/readyz", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var ready struct{ Seq uint64 }
	if err := json.Unmarshal(a.body, &ready); err != nil {
		t.Fatal(err)
	}
	return ready.Seq
}

// collected returns the resident memory after a garbage collection, in bytes.
func (x *exchange) collected(t *testing.T) int64 {
	t.Helper()
	if _, err := x.watch("/debug/pprof/heap?gc=1&debug=1"); err != nil {
		t.Fatal(err)
	}
	return x.resident()
}

// resident returns the resident memory in bytes; zero if the process has ended.
func (x *exchange) resident() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", x.process.Process.Pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// worked returns the CPU time of the process.
func (x *exchange) worked() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", x.process.Process.Pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 15 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[13], 10, 64)
	system, _ := strconv.ParseInt(fields[14], 10, 64)
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// ticksPerSecond is the unit of times in /proc.
const ticksPerSecond = 100

// fields is the body of a request.
type fields map[string]any

// operate calls an operator's verb. A nil into drops the answer.
func (x *exchange) operate(verb string, args fields, into any) error {
	return outside.Operate(x.socket, verb, args, into)
}

// open creates an account with a key of all scopes and credits it; a credit is an amount
// and a symbol, "100 USDT".
func (x *exchange) open(t *testing.T, email string, credits ...string) (id int, key string) {
	t.Helper()
	var made struct{ Account int }
	if err := x.operate("account/create", fields{"email": email}, &made); err != nil {
		t.Fatal(err)
	}
	var secret struct {
		Secret string `json:"api_key"`
	}
	args := fields{"account": made.Account, "name": "abuse", "scopes": "read,trade,withdraw", "addresses": "", "expires": ""}
	if err := x.operate("key/create", args, &secret); err != nil {
		t.Fatal(err)
	}
	x.credit(t, made.Account, credits...)
	return made.Account, secret.Secret
}

func (x *exchange) credit(t *testing.T, id int, credits ...string) {
	t.Helper()
	for _, c := range credits {
		amount, symbol, _ := strings.Cut(c, " ")
		if err := x.operate("credit", fields{"account": id, "asset": symbol, "amount": amount}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// code returns the code in the last letter to an address.
func (x *exchange) code(email string) (string, error) {
	var letter struct{ Code string }
	if err := x.operate("mail/last", fields{"email": email}, &letter); err != nil {
		return "", err
	}
	if letter.Code == "" {
		return "", fmt.Errorf("the last letter to %s has no code", email)
	}
	return letter.Code, nil
}
