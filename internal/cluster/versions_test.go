package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// older and newer are versions around those of this program.
var (
	older = cluster.Versions{Records: cluster.Known().Records - 1, Rules: cluster.Known().Rules}
	newer = cluster.Versions{Records: cluster.Known().Records + 1, Rules: cluster.Known().Rules}
)

// TestOutdatedProgram connects a node of an older program with one whose log may have more, in both directions: no message
// passes, and the older one is told so that its process ends.
func TestOutdatedProgram(t *testing.T) {
	sites := newSites(t, 2)
	var nodes []*cluster.Transport
	told := make(chan error, 1)
	for i, known := range []cluster.Versions{older, cluster.Known()} {
		o := sites[i].options(sites)
		o.Known, o.Allowed = known, func() cluster.Versions { return known }
		o.Receive = func(...*raftpb.Message) error {
			t.Error("a message passes")
			return nil
		}
		o.Outdated = func(err error) {
			if i == 1 {
				t.Errorf("the newer program is told: %v", err)
			}
			select {
			case told <- err:
			default:
			}
		}
		x, _ := run(t, o, sites[i].listener)
		nodes = append(nodes, x)
	}

	for attempts := 0; attempts < 4; { // of either
		select {
		case err := <-told:
			attempts++
			if !errors.Is(err, cluster.ErrOutdated) || !strings.Contains(err.Error(), "node 2 may have records up to kind") {
				t.Fatal(err)
			}
		default:
			runtime.Gosched()
		}
		for i, x := range nodes {
			if x.Connected(uint64(2 - i)) {
				t.Fatalf("node %d has a connection", i+1)
			}
		}
	}
}

// TestNewerProgram connects a node of a newer program with one of an older one, before an operator has ended the upgrade:
// they speak, and each knows what the other one knows.
func TestNewerProgram(t *testing.T) {
	sites := newSites(t, 2)
	var nodes []*cluster.Transport
	for i, known := range []cluster.Versions{cluster.Known(), newer} {
		o := sites[i].options(sites)
		o.Known, o.Receive = known, func(...*raftpb.Message) error { return nil }
		o.Outdated = func(err error) { t.Error(err) }
		x, _ := run(t, o, sites[i].listener)
		nodes = append(nodes, x)
	}
	connect(nodes[0], 2)
	connect(nodes[1], 1)
	if known, ok := nodes[0].Knows(2); !ok || known != newer {
		t.Errorf("node 2 knows %v, %t", known, ok)
	}
	if known, ok := nodes[1].Knows(1); !ok || known != cluster.Known() {
		t.Errorf("node 1 knows %v, %t", known, ok)
	}
}

// TestUpgrade raises the versions of a log, which its configuration keeps, and which a node of an older program neither
// opens nor joins. A node that is away keeps them as they are.
func TestUpgrade(t *testing.T) {
	n := newLone(t)
	want(t, n.Allow(older))
	newcomer, _, _, err := cluster.Prepare(2, time.Now())
	want(t, err)
	newcomer.Address, newcomer.Listen, newcomer.Records = "127.0.0.1:2", "127.0.0.1:3", older.Records
	_, err = n.Admit(t.Context(), newcomer)
	want(t, err)
	if _, err := n.Upgrade(t.Context()); err == nil || !strings.Contains(err.Error(), "node 2 is away") || n.Config().Allowed() != older {
		t.Errorf("beside a node that is away: %v, and %v are allowed", err, n.Config().Allowed())
	}
	_, err = n.Leave(t.Context(), 2)
	want(t, err)

	for range 2 { // the second one finds nothing to do
		if now, err := n.Upgrade(t.Context()); err != nil || now != cluster.Known() {
			t.Fatalf("%v, %v", now, err)
		}
	}
	c, err := cluster.LoadConfig(n.disk)
	want(t, err)
	if c.Allowed() != cluster.Known() || c.Changed == 0 || len(c.Nodes) != 1 {
		t.Errorf("the file has %+v", c)
	}
	if _, err := n.Admit(t.Context(), newcomer); err == nil || !strings.Contains(err.Error(), "start it with a newer one") {
		t.Errorf("an older program joins: %v", err)
	}

	want(t, n.Allow(newer))
	c, err = cluster.LoadConfig(n.disk)
	want(t, err)
	_, err = cluster.Open(context.Background(), &cluster.Parts{Disk: n.disk, Log: slog.New(slog.DiscardHandler)}, c, journal.Options{})
	if !errors.Is(err, cluster.ErrOutdated) {
		t.Errorf("a node of an older program opens: %v", err)
	}
}

// TestUnannounced wants a configuration without versions to allow what programs knew before they announced them.
func TestUnannounced(t *testing.T) {
	c := new(cluster.Config)
	if !cluster.Known().Covers(c.Allowed()) || c.Allowed().Records == 0 || c.Allowed().Rules == 0 {
		t.Errorf("%v are allowed", c.Allowed())
	}
}
