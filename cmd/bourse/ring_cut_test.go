package main

import (
	"encoding/json"
	"flag"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

var (
	ringFreezes = flag.Int("cluster.freezes", 2, "how often TestClusterFreezes stops a node")
	ringCuts    = flag.Int("cluster.cuts", 3, "how often TestClusterCuts cuts a node off")
)

// cable is a proxy for the connections that one node dials to another. They carry the first node's messages,
// so that a cut cable loses messages of one direction.
type cable struct {
	from, to uint64
	target   string
	listener net.Listener
	carrying sync.WaitGroup

	mu sync.Mutex
	// whole is closed while the cable carries bytes.
	whole chan struct{}
	conns []net.Conn
}

// newCable returns a cable to an address.
func newCable(t *testing.T, from, to uint64, target string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cable{from: from, to: to, target: target, listener: l, whole: make(chan struct{})}
	close(c.whole)
	c.carrying.Go(c.accept)
	t.Cleanup(func() {
		_ = l.Close()
		c.heal(true)
		c.carrying.Wait()
	})
	return c
}

func (c *cable) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return // the test has ended
		}
		c.carrying.Go(func() { c.carry(conn) })
	}
}

// carry carries a connection until one end closes it.
func (c *cable) carry(near net.Conn) {
	c.note(near)
	c.wait()
	far, err := net.Dial("tcp", c.target)
	if err != nil {
		_ = near.Close()
		return
	}
	c.note(far)
	var both sync.WaitGroup
	both.Go(func() { c.copy(far, near) })
	both.Go(func() { c.copy(near, far) })
	both.Wait()
}

// copy carries the bytes of one direction. It keeps those that come while the cable is cut.
func (c *cable) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		c.wait()
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (c *cable) note(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
}

// wait returns once the cable is whole.
func (c *cable) wait() {
	c.mu.Lock()
	whole := c.whole
	c.mu.Unlock()
	<-whole
}

// cut lets no more bytes pass.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole = make(chan struct{})
}

// heal lets bytes pass again. The bytes that came meanwhile arrive late, or are lost with their connections.
func (c *cable) heal(lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost {
		for _, conn := range c.conns {
			_ = conn.Close()
		}
		c.conns = nil
	}
	select {
	case <-c.whole:
	default:
		close(c.whole)
	}
}

// cabled lets each node dial the others by cables, which it returns. The keys that the nodes know each other by
// stay as they are. No node may run.
func (r *ring) cabled() (cables []*cable) {
	r.t.Helper()
	for _, n := range r.nodes {
		config, err := readConfig(n.dir)
		must(r.t, err)
		for i := range config.Nodes {
			m := &config.Nodes[i]
			if m.Node == n.Node {
				continue
			}
			c := newCable(r.t, n.Node, m.Node, m.Address)
			m.Address = c.listener.Addr().String()
			cables = append(cables, c)
		}
		text, err := json.Marshal(config)
		must(r.t, err)
		must(r.t, os.WriteFile(filepath.Join(n.dir, "cluster.json"), text, 0o600))
	}
	return cables
}

// cuts are the cables of a node that are cut together, by name. Other is another node.
var cuts = []struct {
	name string
	of   func(c *cable, node, other uint64) bool
}{
	{"both ways", func(c *cable, node, _ uint64) bool { return c.from == node || c.to == node }},
	{"outwards", func(c *cable, node, _ uint64) bool { return c.from == node }},
	{"inwards", func(c *cable, node, _ uint64) bool { return c.to == node }},
	{"from one", func(c *cable, node, other uint64) bool {
		return c.from == node && c.to == other || c.from == other && c.to == node
	}},
	{"to one, one way", func(c *cable, node, other uint64) bool { return c.from == node && c.to == other }},
}

// cutting returns the fault of a random cut.
func (x *trial) cutting(cables []*cable) blow {
	kind, lost := cuts[x.rng.IntN(len(cuts))], x.rng.IntN(2) == 0
	further := 1 + x.rng.Uint64N(ringNodes-1)
	var these []*cable
	return blow{
		name: "cut " + kind.name,
		begin: func(n *ringNode) {
			other := (n.Node-1+further)%ringNodes + 1
			for _, c := range cables {
				if kind.of(c, n.Node, other) {
					these = append(these, c)
				}
			}
			for _, c := range these {
				c.cut()
			}
		},
		end: func(*ringNode) {
			for _, c := range these {
				c.heal(lost)
			}
		},
	}
}

// TestClusterCuts cuts nodes of three off, both ways and one way, wholly and from one other, under the traders
// and followers of TestClusterKills. A leader that is cut off answers no reads.
func TestClusterCuts(t *testing.T) {
	var cables []*cable
	x := newTrial(t, func(r *ring) { cables = r.cabled() })
	for range *ringCuts {
		x.suffer(x.cutting(cables))
	}
	x.finish("cuts")
}

// signal sends a signal to a node's process.
func (r *ring) signal(s syscall.Signal) func(*ringNode) {
	return func(n *ringNode) { must(r.t, n.cmd.Process.Signal(s)) }
}

// TestClusterFreezes stops the processes of nodes, and lets them go on when another node leads, under the
// traders and followers of TestClusterKills.
func TestClusterFreezes(t *testing.T) {
	x := newTrial(t, nil)
	for range *ringFreezes {
		x.suffer(blow{"freeze", x.signal(syscall.SIGSTOP), x.signal(syscall.SIGCONT)})
	}
	x.finish("freezes")
}

// TestCable checks that a cut cable carries nothing, and that a healed one carries what came late or breaks.
func TestCable(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = far.Close() }()
	for _, lost := range []bool{false, true} {
		c := newCable(t, 1, 2, far.Addr().String())
		near, err := net.Dial("tcp", c.listener.Addr().String())
		must(t, err)
		other, err := far.Accept()
		must(t, err)
		_, err = near.Write([]byte("a"))
		must(t, err)
		b := make([]byte, 2)
		if n, err := other.Read(b); n != 1 || err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}

		c.cut()
		_, err = near.Write([]byte("b"))
		must(t, err)
		c.heal(lost)
		n, err := other.Read(b)
		if !lost && (n != 1 || err != nil) {
			t.Errorf("%d bytes came late: %v", n, err)
		}
		_, _ = near.Close(), other.Close()
	}
}
