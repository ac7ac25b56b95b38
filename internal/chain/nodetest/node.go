package nodetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/needs"
)

// User and password of every node.
const (
	User     = "bourse"
	Password = "not-secret"
)

// Kind is a program that runs a node of a test chain.
type Kind struct {
	// Name is the directory below bin/networks, and the need that tests name.
	Name string
	// Params is the chain of a node of the Bitcoin family.
	Params *bitcoin.Params
	// args are the program's arguments for a directory and a port.
	args func(dir, port string) []string
	// prepare, if not nil, fills the directory of a new node.
	prepare func(dir string) error
	// stop, if not nil, writes the files from which the node starts again, before it is killed. Nodes
	// without it are stopped by their own method.
	stop func(n *Node) error
	// control makes the blocks of a node of Ethereum.
	control func(o *Ether) control
	// forgetful are the arguments that make it start without the transactions that waited.
	forgetful []string
	// ready matches the line of the log from which on it serves; remembers the one from which
	// on it has the transactions that waited, too. Nodes without the latter forget them.
	ready, remembers *regexp.Regexp
	// ripe is the number of blocks after which a miner's reward can be spent, with a witness.
	ripe int
	// bare is true for btcd, which makes no block of given transactions, and tells no script.
	bare bool
}

// Knots returns Bitcoin Knots, a bitcoind, on regtest.
func Knots() *Kind {
	return &Kind{
		Name: "knots", Params: bitcoin.Lookup("regtest"),
		args: func(dir, port string) []string {
			return []string{
				"-regtest", "-datadir=" + dir, "-conf=/dev/null", "-printtoconsole=1",
				"-rpcuser=" + User, "-rpcpassword=" + Password, "-rpcport=" + port, "-rpcbind=127.0.0.1",
				"-rpcallowip=127.0.0.1", "-listen=0", "-rest=1", "-txindex=1", "-disablewallet=1",
				// Tests pay amounts that real nodes do not relay.
				"-acceptnonstdtxn=1", "-dustrelayfee=0",
			}
		},
		forgetful: []string{"-persistmempool=0"},
		ready:     regexp.MustCompile(`init message: Done loading`),
		remembers: regexp.MustCompile(`Imported mempool transactions|Failed to open mempool|Failed to load mempool|mempool: `),
		ripe:      100,
	}
}

// Pruned returns Knots as a node that throws old blocks away, on request and in small steps.
func Pruned() *Kind {
	k := Knots()
	whole := k.args
	k.args = func(dir, port string) []string {
		return append(whole(dir, port), "-txindex=0", "-prune=1", "-fastprune")
	}
	return k
}

// Litecoin returns Litecoin's node on regtest, without extension blocks.
func Litecoin() *Kind {
	k := Knots()
	knots := k.args
	return &Kind{
		Name: "litecoin", Params: bitcoin.Lookup("litecoin-regtest"),
		args: func(dir, port string) []string {
			return append(knots(dir, port), "-vbparams=mweb:4000000000:4100000000", "-mempoolreplacement=1")
		},
		forgetful: k.forgetful, ready: k.ready, remembers: k.remembers, ripe: k.ripe,
	}
}

// root returns the module's directory.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no module here")
		}
		dir = filepath.Dir(dir)
	}
}

// Node is a running node.
type Node struct {
	*Kind
	// URL is the node's address.
	URL string
	// RPC asks the node itself, without a proxy between.
	RPC *rpc.Client

	t       testing.TB
	program string
	dir     string
	port    string
	cmd     *exec.Cmd
	log     *log
}

// Start starts a new node, which stops with the test. Without the node's program the test is
// skipped.
func Start(t testing.TB, k *Kind) *Node {
	t.Helper()
	program := filepath.Join(root(t), "bin", "networks", k.Name, "run")
	_, err := os.Stat(program)
	needs.That(t, k.Name, err == nil)

	n := &Node{Kind: k, t: t, program: program, dir: t.TempDir(), port: freePort(t)}
	n.URL = "http://127.0.0.1:" + n.port
	n.RPC = n.Client(n.URL, time.Minute)
	if k.prepare != nil {
		if err := k.prepare(n.dir); err != nil {
			t.Fatal(err)
		}
	}
	n.Run()
	t.Cleanup(n.Kill)
	return n
}

// freePort returns a port that nothing listens on.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// maxAnswer bounds a node's answer in bytes: a whole chain of a test.
const maxAnswer = 64 << 20

// Client returns a client of a URL with the node's user and password.
func (n *Node) Client(url string, timeout time.Duration) *rpc.Client {
	n.t.Helper()
	c, err := rpc.New(rpc.Options{
		URL: url, User: User, Password: func() (string, error) { return Password, nil }, Timeout: timeout,
		MaxAnswer: maxAnswer,
	})
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(c.Close)
	return c
}

// Run starts the node's process and waits until it serves, and has loaded the transactions
// that waited.
func (n *Node) Run() {
	n.t.Helper()
	n.run(nil, n.remembers)
}

// RunForgetful starts the node's process without the transactions that waited.
func (n *Node) RunForgetful() {
	n.t.Helper()
	n.run(n.forgetful, nil)
}

func (n *Node) run(more []string, also *regexp.Regexp) {
	n.t.Helper()
	n.cmd = exec.Command(n.program, append(n.args(n.dir, n.port), more...)...)
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	n.cmd.Stderr = n.cmd.Stdout
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.log = follow(out)
	for _, line := range []*regexp.Regexp{n.ready, also} {
		if line != nil && !n.log.wait(line) {
			n.t.Fatalf("%s ended before it served:\n%s", n.Name, n.log.text())
		}
	}
}

// Stop stops the node as its operator would.
func (n *Node) Stop() {
	n.t.Helper()
	if n.stop != nil {
		if err := n.stop(n); err != nil {
			n.t.Fatal(err)
		}
		n.Kill()
		return
	}
	n.Ask(nil, "stop")
	n.wait()
}

// Kill ends the node's process at once; without one it does nothing.
func (n *Node) Kill() {
	if n.cmd == nil {
		return
	}
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Error(err)
	}
	n.wait()
}

func (n *Node) wait() {
	<-n.log.ended
	_ = n.cmd.Wait() // a kill is its end
	n.cmd = nil
	n.RPC.Close()
}

// Freeze halts the process: it accepts connections and never answers. Thaw lets it go on.
func (n *Node) Freeze() { n.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (n *Node) Thaw() { n.signal(syscall.SIGCONT) }

func (n *Node) signal(s syscall.Signal) {
	n.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		n.t.Fatal(err)
	}
}

// Ask calls a method of the node.
func (n *Node) Ask(result any, method string, params ...any) {
	n.t.Helper()
	if err := n.RPC.Call(n.t.Context(), result, method, params...); err != nil {
		n.t.Fatal(err)
	}
}

// log is a process's output.
type log struct {
	ended chan struct{}
	mu    sync.Mutex
	grew  *sync.Cond
	lines []string
	over  bool
}

// keptLines bounds the lines of a log that a failed test shows.
const keptLines = 2000

func follow(r io.Reader) *log {
	l := &log{ended: make(chan struct{})}
	l.grew = sync.NewCond(&l.mu)
	go func() {
		defer close(l.ended)
		s := bufio.NewScanner(r)
		for s.Scan() {
			l.mu.Lock()
			if len(l.lines) < keptLines {
				l.lines = append(l.lines, s.Text())
			}
			l.mu.Unlock()
			l.grew.Broadcast()
		}
		l.mu.Lock()
		l.over = true
		l.mu.Unlock()
		l.grew.Broadcast()
	}()
	return l
}

// wait waits for a line; false if the process ended without one.
func (l *log) wait(line *regexp.Regexp) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for read := 0; ; l.grew.Wait() {
		for ; read < len(l.lines); read++ {
			if line.MatchString(l.lines[read]) {
				return true
			}
		}
		if l.over {
			return false
		}
	}
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(strings.Join(l.lines, "\n"))
}
