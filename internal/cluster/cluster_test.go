package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

var identity = journal.Identity{Exchange: [16]byte{4, 2}, Sandbox: true}

// proof is a key with its certificate, in files.
type proof struct{ cert, key, pin string }

func newProof(t *testing.T) proof {
	t.Helper()
	cert, key, pin, err := pinned.Certify(time.Now())
	want(t, err)
	dir := t.TempDir()
	p := proof{filepath.Join(dir, "cert"), filepath.Join(dir, "key"), pin}
	want(t, os.WriteFile(p.cert, cert, 0o600))
	want(t, os.WriteFile(p.key, key, 0o600))
	return p
}

func want(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site is a place for a node: a proof of its own and an address.
type site struct {
	proof
	node     uint64
	listener net.Listener
}

func newSites(t *testing.T, n int) []site {
	t.Helper()
	var list []site
	for i := range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		want(t, err)
		t.Cleanup(func() { _ = l.Close() })
		list = append(list, site{newProof(t), uint64(i + 1), l})
	}
	return list
}

// options returns the options of the node at a site.
func (s *site) options(sites []site) cluster.Options {
	o := cluster.Options{
		Identity: identity, Epoch: 1, Node: s.node, Cert: s.cert, Key: s.key, Clock: time.Now, After: time.After,
		Log: slog.New(slog.DiscardHandler), Known: cluster.Known(), Allowed: cluster.Known, Outdated: func(error) {},
	}
	for i := range sites {
		if p := &sites[i]; p.node != s.node {
			o.Peers = append(o.Peers, cluster.Peer{Node: p.node, Address: p.listener.Addr().String(), Pin: p.pin})
		}
	}
	return o
}

// run runs a transport until the test ends or stop is called.
func run(t *testing.T, o cluster.Options, l net.Listener) (x *cluster.Transport, stop func()) {
	t.Helper()
	x, err := cluster.NewTransport(o)
	want(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.Run(ctx, l)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return x, stop
}

// connect waits until a transport has a connection to a node.
func connect(x *cluster.Transport, node uint64) {
	for !x.Connected(node) {
		runtime.Gosched()
	}
}

// node is a node of a cluster on disks in memory, with all its goroutines.
type node struct {
	log *cluster.Log
	// notices are those of the log, in order.
	notices chan journal.Notice
	stop    func()
}

func startNode(t *testing.T, s *site, sites []site, d *memdisk.Disk) *node {
	t.Helper()
	var out *cluster.Transport
	l, _, err := raftlog.Open(d, raftlog.Options{
		Options: journal.Options{Identity: identity, SegmentSize: 256 << 10}, Send: func(m []*raftpb.Message) { out.Send(m) },
	})
	want(t, err)
	o := s.options(sites)
	o.Receive = l.Receive
	out, stopTransport := run(t, o, s.listener)

	n := &node{log: cluster.NewLog(l, time.Now), notices: make(chan journal.Notice, 1<<12)}
	ctx, cancel := context.WithCancel(t.Context())
	ticks := time.NewTicker(5 * cluster.TickEvery) // a busy machine elects no second leader
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.log.Run(ctx, ticks.C); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		for {
			for notice, ok := n.log.Next(); ok; notice, ok = n.log.Next() {
				own := *notice
				own.Batch.Commands = []byte(string(own.Batch.Commands))
				n.notices <- own
			}
			select {
			case <-ctx.Done():
				return
			case <-n.log.Ready():
			}
		}
	})
	n.stop = sync.OnceFunc(func() {
		stopTransport()
		cancel()
		running.Wait()
		ticks.Stop()
		_ = n.log.Close()
	})
	t.Cleanup(n.stop)
	return n
}

// committed waits for batches, and returns their commands.
func (n *node) committed(count int) string {
	var text strings.Builder
	for count > 0 {
		if notice := <-n.notices; notice.Kind == journal.Committed {
			text.Write(notice.Batch.Commands)
			count--
		}
	}
	return text.String()
}

// leader waits for the first node that is told to lead.
func leader(nodes ...*node) *node {
	for {
		for _, n := range nodes {
			select {
			case notice := <-n.notices:
				if notice.Kind == journal.Role && notice.Leads {
					return n
				}
			default:
			}
		}
	}
}

// TestThreeNodes runs three nodes over TLS: they agree on what a leader takes, also on batches that
// fill a frame. When the leader goes, the others take commands.
func TestThreeNodes(t *testing.T) {
	sites := newSites(t, 3)
	var nodes []*node
	for i := range sites {
		d := memdisk.New(uint64(i))
		want(t, raftlog.Init(d, &raftlog.Cluster{Identity: identity, Nodes: []uint64{1, 2, 3}, SegmentSize: 256 << 10}, sites[i].node))
		nodes = append(nodes, startNode(t, &sites[i], sites, d))
	}

	first := leader(nodes...)
	var all strings.Builder
	for n := range 20 {
		text := strings.Repeat(string(rune('a'+n)), journal.MaxFrame/(1+n%3))
		all.WriteString(text)
		p := journal.Proposal{ID: uint64(n + 1), Count: len(text), Time: bourse.Time(n), Commands: []byte(text)}
		for {
			err := first.log.Propose(p)
			if errors.Is(err, journal.ErrBusy) {
				continue // the log's driver makes room
			}
			want(t, err)
			break
		}
		_, err := first.log.Step()
		want(t, err)
	}
	for i, n := range nodes {
		if n.committed(20) != all.String() {
			t.Errorf("node %d has yielded other commands", i+1)
		}
	}

	first.stop()
	var others []*node
	for _, n := range nodes {
		if n != first {
			others = append(others, n)
		}
	}
	second := leader(others...)
	want(t, second.log.Propose(journal.Proposal{ID: 1, Count: 1, Commands: []byte("z")}))
	_, err := second.log.Step()
	want(t, err)
	for _, n := range others {
		if got := n.committed(1); got != "z" {
			t.Errorf("a node has yielded %q after the failover", got)
		}
	}
}

// helloOf returns the hello of node 2 to node 1, in which both versions are those.
func helloOf(id journal.Identity, v cluster.Versions) []byte {
	b := append([]byte("boursen\x02"), id.Exchange[:]...)
	b = append(b, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1)
	for range 2 {
		b = append(b, byte(v.Records), 0, 0, 0, byte(v.Rules))
	}
	return b
}

// TestStrangers dials a node port as somebody else: with another key, as another exchange's node, one of
// another epoch, and as another node than the key's. Nothing of theirs is received, and the node's own
// peer still is.
func TestStrangers(t *testing.T) {
	sites := newSites(t, 3)
	got := make(chan *raftpb.Message, 1)
	o := sites[0].options(sites)
	o.Receive = func(list ...*raftpb.Message) error { got <- list[0]; return nil }
	run(t, o, sites[0].listener)
	other := newProof(t)

	hello := func(change func([]byte)) []byte {
		b := helloOf(identity, cluster.Known())
		change(b)
		return b
	}
	for what, c := range map[string]struct {
		proof
		says []byte
	}{
		"another key":      {other, hello(func([]byte) {})},
		"another version":  {sites[1].proof, hello(func(b []byte) { b[7]++ })},
		"another exchange": {sites[1].proof, hello(func(b []byte) { b[8]++ })},
		"production":       {sites[1].proof, hello(func(b []byte) { b[24] = 0 })},
		"another epoch":    {sites[1].proof, hello(func(b []byte) { b[28]++ })},
		"another node":     {sites[1].proof, hello(func(b []byte) { b[36] = 3 })},
		"the node itself":  {sites[1].proof, hello(func(b []byte) { b[36] = 1 })},
		"to another node":  {sites[1].proof, hello(func(b []byte) { b[44] = 2 })},
		"HTTP":             {sites[1].proof, []byte(strings.Repeat("GET / HTTP/1.1\r\n", 9))},
	} {
		config, err := pinned.TLS(c.cert, c.key, sites[0].pin)
		want(t, err)
		conn, err := tls.Dial("tcp", sites[0].listener.Addr().String(), config)
		want(t, err)
		_, _ = conn.Write(append(c.says, 0, 0, 0, 2, 8, 8)) // the port may have hung up
		if b, _ := io.ReadAll(conn); len(b) > 0 {
			t.Errorf("%s is answered: %q", what, b)
		}
		_ = conn.Close()
	}

	friend := sites[1].options(sites)
	friend.Receive = func(...*raftpb.Message) error { return nil }
	x, _ := run(t, friend, sites[1].listener)
	m := &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(9))}
	connect(x, 1)
	x.Send([]*raftpb.Message{m})
	if first := <-got; first.GetFrom() != 2 || first.GetTerm() != 9 {
		t.Errorf("received %v", first)
	}
}

// outcast dials other nodes at sites, those that refuse without this one among their peers. It waits again no time, and
// told receives of waits.
func outcast(t *testing.T, sites, refuse []site, told chan<- struct{}) (x *cluster.Transport, others []*cluster.Transport) {
	t.Helper()
	for i := range sites[1:] {
		peers := sites
		if i < len(refuse) {
			peers = sites[1:]
		}
		o := sites[i+1].options(peers)
		o.Receive = func(...*raftpb.Message) error { return nil }
		other, _ := run(t, o, sites[i+1].listener)
		others = append(others, other)
	}
	o := sites[0].options(sites)
	o.Receive = func(...*raftpb.Message) error { return nil }
	o.After = func(time.Duration) <-chan time.Time {
		select {
		case told <- struct{}{}:
		default: // the test has read as many pauses as it counts
		}
		now := make(chan time.Time, 1)
		now <- time.Time{}
		return now
	}
	x, _ = run(t, o, sites[0].listener)
	return x, others
}

// TestOutcast dials three nodes, two of which do not have this one among their peers: it is believed to be no member once
// both have refused it again and again, and it is one again when they take it. While it knows the third as the leader,
// which takes it, it is a member: the others may not have heard of it yet.
func TestOutcast(t *testing.T) {
	sites := newSites(t, 4)
	x, others := outcast(t, sites, sites[1:3], nil)
	for !x.Outcast(0) {
		runtime.Gosched()
	}
	connect(x, 4)
	for leader, is := range map[uint64]bool{1: false, 2: true, 3: true, 4: false, 9: true} {
		if x.Outcast(leader) != is {
			t.Errorf("with the leader %d the node is an outcast: %t, not %t", leader, !is, is)
		}
	}

	for i, other := range others {
		want(t, other.Set(sites[i+1].options(sites).Peers))
	}
	for x.Outcast(0) {
		runtime.Gosched()
	}
}

// TestOneRefusalIsNoVerdict dials a node that does not have this one among its peers, and one that has: it is no outcast.
func TestOneRefusalIsNoVerdict(t *testing.T) {
	sites := newSites(t, 3)
	refused := make(chan struct{})
	x, _ := outcast(t, sites, sites[1:2], refused)
	connect(x, 3)
	for range 60 {
		<-refused
	}
	if x.Outcast(0) {
		t.Error("one of two others makes the node an outcast")
	}
}

// hungUp is a connection whose other end has sent an alert, and closed it before this end wrote.
type hungUp struct{ net.Conn }

func (hungUp) SetDeadline(time.Time) error { return nil }

func (hungUp) Write([]byte) (int, error) { return 0, &net.OpError{Op: "write", Err: syscall.EPIPE} }

func (hungUp) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "remote error", Err: tls.AlertError(42)}
}

// TestRefusalBeforeTheHello greets a node that has refused the key before the hello could be written.
func TestRefusalBeforeTheHello(t *testing.T) {
	sites := newSites(t, 2)
	x, err := cluster.NewTransport(sites[0].options(sites))
	want(t, err)
	if !x.Greet(2, hungUp{}) {
		t.Error("the refusal is not seen")
	}
}

// TestCrowdOfStrangers fills a node port with connections that say nothing, and end only with the test: one
// more is closed at once, and a node that was connected before is still heard.
func TestCrowdOfStrangers(t *testing.T) {
	sites := newSites(t, 2)
	got := make(chan *raftpb.Message, 1)
	o := sites[0].options(sites)
	o.Clock = func() time.Time { return time.Now().Add(time.Hour) }
	o.Receive = func(list ...*raftpb.Message) error { got <- list[0]; return nil }
	run(t, o, sites[0].listener)
	friend := sites[1].options(sites)
	friend.Receive = func(...*raftpb.Message) error { return nil }
	x, _ := run(t, friend, sites[1].listener)
	connect(x, 1)
	m := &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(9))}
	x.Send([]*raftpb.Message{m})
	<-got // the friend counts as a stranger no more

	var last net.Conn
	for range cluster.MostStrangers + 1 {
		conn, err := net.Dial("tcp", sites[0].listener.Addr().String())
		want(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		last = conn
	}
	want(t, last.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := last.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one more than the bound is kept: %v", err)
	}
	x.Send([]*raftpb.Message{m})
	if first := <-got; first.GetTerm() != 9 {
		t.Errorf("received %v", first)
	}
}

// TestForgedSender lets a node send in another's name: its connection ends, and nothing is received.
func TestForgedSender(t *testing.T) {
	sites := newSites(t, 3)
	o := sites[0].options(sites)
	o.Receive = func(...*raftpb.Message) error {
		t.Error("a forged message is received")
		return errors.New("forged")
	}
	run(t, o, sites[0].listener)

	config, err := pinned.TLS(sites[1].cert, sites[1].key, sites[0].pin)
	want(t, err)
	conn, err := tls.Dial("tcp", sites[0].listener.Addr().String(), config)
	want(t, err)
	b := helloOf(identity, cluster.Known())
	b = append(b, 0, 0, 0, 8, 8, 8, 16, 1, 24, 3, 32, 9) // a heartbeat of node 3
	_, err = conn.Write(b)
	want(t, err)
	if answer, _ := io.ReadAll(conn); len(answer) != 55 {
		t.Errorf("the answer has %d bytes, not a hello's 55", len(answer))
	}
	want(t, conn.Close())
}

// TestSendNeverWaits queues more than the bound for a node that reads nothing, and for one that is away.
func TestSendNeverWaits(t *testing.T) {
	sites := newSites(t, 3)
	block := make(chan struct{})
	busy := sites[1].options(sites)
	held := make(chan struct{}, 1)
	busy.Receive = func(...*raftpb.Message) error {
		select {
		case held <- struct{}{}:
		default:
		}
		<-block
		return nil
	}
	_, stop := run(t, busy, sites[1].listener)
	o := sites[0].options(sites)
	o.Receive = func(...*raftpb.Message) error { return nil }
	x, _ := run(t, o, sites[0].listener)

	data := make([]byte, 1<<18)
	m := func(to uint64) *raftpb.Message {
		return &raftpb.Message{
			Type: raftpb.MsgApp.Enum(), From: new(uint64(1)), To: new(to), Term: new(uint64(1)),
			Entries: []*raftpb.Entry{{Data: data}},
		}
	}
	connect(x, 2)
	x.Send([]*raftpb.Message{m(2)})
	<-held
	for range 10_000 {
		x.Send([]*raftpb.Message{m(2), m(3)})
	}
	if n := x.Queued(); n > 32<<20 {
		t.Errorf("%d bytes wait", n)
	}
	close(block)
	stop()
}

// TestFoundForgetsNothing founds a cluster again: it may before its nodes have run, as after a crash, and
// not in place of a node that may have acknowledged something.
func TestFoundForgetsNothing(t *testing.T) {
	c := cluster.Config{Exchange: "04020000000000000000000000000000", Sandbox: true, Epoch: 1}
	var dirs []disk.Disk
	for n := range uint64(3) {
		c.Nodes = append(c.Nodes, cluster.Member{Node: n + 1})
		dirs = append(dirs, memdisk.New(n))
	}
	want(t, cluster.Found(c, dirs, time.Now(), 256<<10))
	dirs[1] = memdisk.New(4)
	want(t, cluster.Found(c, dirs, time.Now(), 256<<10))

	want(t, journal.Voter{Node: 1, Term: raftlog.FirstTerm + 1, Vote: 2}.Save(dirs[0], identity))
	dirs[1] = memdisk.New(5)
	if err := cluster.Found(c, dirs, time.Now(), 256<<10); err == nil {
		t.Error("a node that was lost is made anew under its id")
	}
	if _, err := cluster.LoadConfig(dirs[1]); err == nil {
		t.Error("it has a configuration")
	}
}
