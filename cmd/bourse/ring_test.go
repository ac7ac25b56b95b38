package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/cluster"
)

// ringNodes is the number of nodes of a ring.
const ringNodes = 3

// ring is a cluster whose nodes are processes of the test: each can be killed, stopped and started alone.
type ring struct {
	t     *testing.T
	rng   *rand.Rand
	data  string
	nodes []*ringNode
	// args are further arguments of the nodes.
	args []string
	// share starts the networks and the signer that the nodes use, as their parent does; unshare stops them.
	share, unshare func()

	// left is the number of acknowledgements until reached is closed.
	mu      sync.Mutex
	left    int
	reached chan struct{}
}

// ringNode is a node of a ring.
type ringNode struct {
	cluster.Member
	dir, url, log string
	// program is the one to run, if not the one that is built, and args are further arguments.
	program string
	args    []string
	cmd     *exec.Cmd
	// role is the role that it printed last.
	role atomic.Value
	// ended is closed when the process has closed its output.
	ended chan struct{}
}

// newRing makes a cluster, and starts its nodes after prepare, if there is one.
func newRing(t *testing.T, rng *rand.Rand, prepare func(*ring)) *ring {
	t.Helper()
	r := &ring{t: t, rng: rng, data: t.TempDir()}
	d := &dev{Data: place(r.data), Nodes: ringNodes, Listen: "127.0.0.1:0", Segment: 16 << 20}
	config, err := d.create(nil)
	must(t, err)
	parent := &family{program: &program{ctx: context.WithoutCancel(t.Context()), stderr: io.Discard}, dev: d, failed: make(chan error, 1)}
	r.share = func() {
		r.unshare, err = parent.shareWith(config)
		must(t, err)
	}
	r.share()
	t.Cleanup(func() { r.unshare() })
	for _, m := range config.Nodes {
		dir := nodeDir(r.data, m.Node)
		n := &ringNode{Member: m, dir: dir, url: "http://" + m.Listen, log: filepath.Join(r.data, filepath.Base(dir)+".log")}
		r.nodes = append(r.nodes, n)
	}
	if prepare != nil {
		prepare(r)
	}
	t.Cleanup(r.end)
	for _, n := range r.nodes {
		r.start(n)
	}
	return r
}

// start starts a node.
func (r *ring) start(n *ringNode) {
	r.t.Helper()
	path, err := n.program, error(nil)
	if path == "" {
		path, err = binary()
	}
	must(r.t, err)
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(r.t, err)
	defer func() { _ = log.Close() }()
	words := []string{"dev", "--node", fmt.Sprint(n.Node), "--data", r.data, "--no-bots", "--snapshot-every=2000", "--log-level=info"}
	n.cmd = exec.Command(path, slices.Concat(words, r.args, n.args)...)
	n.cmd.Stderr = log
	out, err := n.cmd.StdoutPipe()
	must(r.t, err)
	n.role.Store("")
	must(r.t, n.cmd.Start())
	n.ended = make(chan struct{})
	go func() {
		defer close(n.ended)
		for text := bufio.NewScanner(out); text.Scan(); {
			var l nodeLine
			if json.Unmarshal(text.Bytes(), &l) == nil {
				n.role.Store(l.Role)
			}
		}
	}()
}

// kill ends a node's process like a power cut would.
func (n *ringNode) kill() {
	_ = n.cmd.Process.Kill()
	<-n.ended
	_ = n.cmd.Wait()
	n.role.Store("")
}

// end ends the nodes.
func (r *ring) end() {
	for _, n := range r.nodes {
		if n.cmd != nil && n.cmd.ProcessState == nil {
			n.kill()
		}
		if text, err := os.ReadFile(n.log); err == nil && r.t.Failed() {
			r.t.Logf("log of node %d:\n%s", n.Node, text[max(0, len(text)-64<<10):])
		}
	}
}

// status returns what a node says of itself; nil if it does not answer.
func (r *ring) status(n *ringNode) *cluster.Status {
	if s := (&program{ctx: r.t.Context()}).stateOf(n.dir); s != nil {
		return s.Status
	}
	return nil
}

// leader waits until a node says that it leads and serves, and returns it. Of several it is that of
// the highest term.
func (r *ring) leader() (leader *ringNode) {
	r.t.Helper()
	within(r.t, patience, "a leader that serves", func() bool {
		var term uint64
		for _, n := range r.nodes {
			if n.role.Load() != "leader" {
				continue
			}
			if s := r.status(n); s != nil && s.Role == "leader" && s.Term > term {
				leader, term = n, s.Term
			}
		}
		return leader != nil
	})
	return leader
}

// level waits until all nodes have what the leader has, while nothing comes in.
func (r *ring) level() {
	r.t.Helper()
	var all []*cluster.Status
	defer func() {
		if r.t.Failed() {
			r.t.Logf("the nodes: %+v", all)
		}
	}()
	within(r.t, patience, "all nodes with what the leader has", func() bool {
		all = all[:0]
		for _, n := range r.nodes {
			all = append(all, r.status(n))
		}
		return !slices.ContainsFunc(all, func(s *cluster.Status) bool {
			return s == nil || s.Leader != all[0].Leader || s.Commit != all[0].Commit || s.Applied != s.Commit
		}) && all[0].Leader != 0
	})
}

// operator returns the tools of operators at the leader.
func (r *ring) operator() *server { return &server{t: r.t, data: r.leader().dir} }

// after returns a channel that is closed after so many further acknowledgements.
func (r *ring) after(acknowledgements int) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.reached = acknowledgements, make(chan struct{})
	return r.reached
}

// told counts an acknowledgement.
func (r *ring) told() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left--; r.left == 0 {
		close(r.reached)
	}
}

// await waits for acknowledgements.
func (r *ring) await(reached <-chan struct{}, what string) {
	r.t.Helper()
	select {
	case <-reached:
	case <-time.After(patience):
		r.t.Fatalf("after %s: not as many acknowledgements as wanted %s", patience, what)
	}
}

const (
	// attemptWithin bounds the time for which a client waits for one node.
	attemptWithin = 500 * time.Millisecond
	// betweenAttempts is the time between two attempts of a client.
	betweenAttempts = 10 * time.Millisecond
)

// roamer is a client that asks another node when one does not answer, or refuses as one that cannot say.
// Not safe for concurrent use.
type roamer struct {
	nodes []*client.Client
	at    int
	// tries are the attempts of the last request.
	tries int
}

func (r *ring) roamer(key string, at int) *roamer {
	m := &roamer{at: at % len(r.nodes)}
	for _, n := range r.nodes {
		api, err := client.New(n.url, client.Options{Key: key})
		must(r.t, err)
		r.t.Cleanup(api.Close)
		m.nodes = append(m.nodes, api)
	}
	return m
}

// undecided are the codes of refusals after which the same request is sent again.
var undecided = []string{"UNAVAILABLE", "TIMEOUT", "INTERNAL_SERVER_ERROR", "HISTORY_BEHIND", "RATE_LIMIT"}

// decided reports whether a request with such an error was answered.
func decided(err error) bool {
	var refused *client.Error
	return err == nil || errors.As(err, &refused) && refused.Status == http.StatusOK &&
		!errors.Is(err, client.ErrOutcomeUnknown) && !slices.Contains(undecided, refused.Code)
}

// moveOn has the next node asked.
func (m *roamer) moveOn() { m.at = (m.at + 1) % len(m.nodes) }

// ask sends a request, again and again, until it is answered.
func (m *roamer) ask(ctx context.Context, request func(context.Context, *client.Client) error) error {
	for m.tries = 1; ; m.tries++ {
		one, cancel := context.WithTimeout(ctx, attemptWithin)
		err := request(one, m.nodes[m.at])
		cancel()
		if decided(err) {
			return err
		}
		m.moveOn()
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(betweenAttempts):
		}
	}
}

// probing is an order that is acknowledged and changes no balance: its market has no other orders.
func probing(id string) *client.NewOrder {
	return &client.NewOrder{
		Pair: probedPair, Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.IOC, Price: "10", Amount: "1", ClientID: id,
	}
}

// probe sends orders to all nodes until one is acknowledged, and returns the time that passed from a fault to
// that. Each order is sent after the fault.
func (r *ring) probe(key, round string, fault time.Time) time.Duration {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	first := make(chan time.Duration, len(r.nodes))
	var all sync.WaitGroup
	for i, n := range r.nodes {
		all.Go(func() {
			api, err := client.New(n.url, client.Options{Key: key})
			if err != nil {
				panic(err)
			}
			defer api.Close()
			for try := 0; ctx.Err() == nil; try++ {
				one, end := context.WithTimeout(ctx, attemptWithin)
				_, err := api.Place(one, probing(fmt.Sprintf("%s-%d-%d", round, i, try)))
				end()
				if decided(err) {
					first <- time.Since(fault)
					cancel()
					return
				}
				select {
				case <-ctx.Done():
				case <-time.After(betweenAttempts):
				}
			}
		})
	}
	all.Wait()
	if len(first) == 0 {
		r.t.Fatalf("no order was taken within %s of a fault", patience)
	}
	return <-first
}
