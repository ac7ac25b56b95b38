package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

var ringTransfers = flag.Int("cluster.transfers", 1, "how often TestClusterTransfer lets a leader pick another one")

// gap is the longest time without an acknowledgement of one trader who sends orders one after the other, and goes
// to the next node when one refuses.
type gap struct {
	roamer  *roamer
	longest time.Duration
	acked   int
	// unknown are the orders without an answer.
	unknown int
}

// trade sends orders until stop is closed.
func (g *gap) trade(ctx context.Context, life string, stop <-chan struct{}, told func()) {
	last := time.Time{}
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		err := g.roamer.ask(ctx, func(ctx context.Context, c *client.Client) error {
			_, err := c.Place(ctx, probing(fmt.Sprint(life, "-", n)))
			return err
		})
		if err != nil {
			g.unknown++
			continue
		}
		if now := time.Now(); !last.IsZero() {
			g.longest, last = max(g.longest, now.Sub(last)), now
		} else {
			last = now
		}
		g.acked++
		told()
	}
}

// handover lets a node hand over under a trader, and returns the trader's longest wait.
func (r *ring) handover(key, life string, act func()) time.Duration {
	r.t.Helper()
	g := &gap{roamer: r.roamer(key, 0)}
	stop := make(chan struct{})
	var work sync.WaitGroup
	before := r.after(20)
	work.Go(func() { g.trade(r.t.Context(), life, stop, r.told) })
	r.await(before, "before a transfer")
	act()
	r.await(r.after(20), "after a transfer")
	close(stop)
	work.Wait()
	if g.unknown > 0 {
		r.t.Errorf("%d orders have no answer", g.unknown)
	}
	return g.longest
}

// TestClusterTransfer lets nodes hand over under a trader: to the node that is named, to the one that the leader
// picks, and because the leader's process is told to end. What cannot be is refused, and changes nothing.
func TestClusterTransfer(t *testing.T) {
	r := newRing(t, nil, nil)
	first := r.leader()
	_, key := r.operator().member("trader", "USDT", takerHas)
	r.level()

	for to, says := range map[string]string{
		fmt.Sprint(first.Node): "it leads already", "9": "has no node 9",
	} {
		if _, stderr, code := run(t, "cluster", "transfer", "--data", first.dir, "--to", to); code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("a transfer to node %s: exit %d, %s", to, code, stderr)
		}
	}
	if again := r.leader(); again != first {
		t.Fatalf("node %d leads after refusals, not %d", again.Node, first.Node)
	}

	named := r.nodes[first.Node%ringNodes]
	waited := r.handover(key, "named", func() {
		stdout, stderr, code := run(t, "cluster", "transfer", "--data", first.dir, "--to", fmt.Sprint(named.Node))
		leads := fmt.Sprintf(`{"from":%d,"leader":%d,`, first.Node, named.Node)
		if code == 0 && !strings.HasPrefix(stdout, leads) || code != 0 && !strings.Contains(stderr, "leads now, not node") {
			t.Errorf("node %d hands over to node %d: exit %d, %s%s", first.Node, named.Node, code, stdout, stderr)
		}
	})
	t.Logf("%v without an acknowledgement at a transfer to the node that was named", waited.Round(time.Millisecond))

	var all []time.Duration
	for n := range *ringTransfers {
		r.level()
		leader := r.leader()
		all = append(all, r.handover(key, fmt.Sprint("picked", n), func() {
			if h := tool[handed](t, "cluster", "transfer", "--data", first.dir); h.From != leader.Node || h.Leader == leader.Node {
				t.Errorf("node %d hands over: %+v", leader.Node, h)
			}
		}))
	}
	t.Logf("without an acknowledgement at a transfer to the node that the leader picked: %s", spreadOf(all))

	r.level()
	ending := r.leader()
	waited = r.handover(key, "ended", func() {
		must(t, ending.cmd.Process.Signal(syscall.SIGTERM))
		<-ending.ended
	})
	must(t, ending.cmd.Wait())
	t.Logf("%v without an acknowledgement at the end of the leader's process", waited.Round(time.Millisecond))
	text, err := os.ReadFile(ending.log)
	must(t, err)
	if strings.Contains(string(text), "ends without another one that leads") {
		t.Error("the leader ended without another one")
	}
}
