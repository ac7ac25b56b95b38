package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

// bookAt is an answer of a node about a book.
type bookAt struct {
	Success bool
	Bids    []struct{ Price, Amount client.Decimal }
	// here is true if the node answered by itself.
	here bool
}

// has reports whether the best bid has a price.
func (b *bookAt) has(price string) bool {
	return b.Success && len(b.Bids) > 0 && b.Bids[0].Price == client.Decimal(price)
}

// book reads a book at a node.
func (g *trio) book(ctx context.Context, n nodeLine) (b bookAt, err error) {
	g.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.Listen+"/spot/orderbook?pair=BTC/USDT", nil)
	must(g.t, err)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return b, err
	}
	text, err := io.ReadAll(a.Body)
	err = errors.Join(err, a.Body.Close())
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	b.here = a.Header.Get("Bourse-Seq") != ""
	return b, err
}

// readsAt returns a node's counts of reads.
func (g *trio) readsAt(n nodeLine) (reads struct{ Seq, Answered, Forwarded uint64 }) {
	g.t.Helper()
	return operate[struct {
		Reads struct{ Seq, Answered, Forwarded uint64 }
	}](g.at(n), "status").Reads
}

// TestReplicasRead reads a book at all nodes behind each order and each cancel: every node shows what any node has acknowledged, and
// replicas answer by themselves. A replica that stood still shows the orders placed meanwhile, and one without a leader shows nothing.
func TestReplicasRead(t *testing.T) {
	metrics := freeAddresses(t, 3)
	g := startTrioOf(t, append([]string{"--metrics-listen", metrics}, trioArgs...)...)
	first := g.leader()
	_, key := g.at(first).customer("trader")
	var at []*client.Client
	for _, n := range g.nodes {
		api, err := client.New("http://"+n.Listen, client.Options{Key: key})
		must(t, err)
		t.Cleanup(api.Close)
		at = append(at, api)
	}
	place := func(by int, price string) uint64 {
		t.Helper()
		placed, err := at[by].Place(t.Context(), &client.NewOrder{
			Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.GTC, Price: client.Decimal(price), Amount: "0.001",
		})
		must(t, err)
		return placed.OrderID
	}

	here, reads := 0, 0
	shown := func(price string, want bool) {
		t.Helper()
		for _, n := range slices.Concat(g.nodes, g.nodes) {
			b, err := g.book(t.Context(), n)
			must(t, err)
			if !b.Success || b.has(price) != want {
				t.Fatalf("node %d (%s) shows %+v, want an order at %s: %t", n.Node, n.Role, b, price, want)
			}
			if n == first && b.here {
				t.Error("the leader answers like a replica")
			}
			if n != first {
				reads++
			}
			if b.here {
				here++
			}
		}
	}
	const orders = 40
	for i := range orders {
		price := fmt.Sprintf("%d.00", 50_000+i)
		id := place(i%len(at), price)
		shown(price, true)
		must(t, at[(i+1)%len(at)].Cancel(t.Context(), id))
		shown(price, false)
	}
	// A machine under load may leave some to the leader.
	if here < reads/2 {
		t.Errorf("replicas answered %d of %d reads", here, reads)
	}
	var answered, forwarded uint64
	for _, n := range g.replicas() {
		r := g.readsAt(n)
		answered, forwarded = answered+r.Answered, forwarded+r.Forwarded
		watched, err := portOf(metrics, n.Node)
		must(t, err)
		if told := metric(t, watched, "bourse_replica_reads_answered_total"); told != float64(r.Answered) {
			t.Errorf("the metrics of node %d tell of %v reads that it answered, not of %d", n.Node, told, r.Answered)
		}
	}
	if answered != uint64(here) || answered+forwarded != uint64(reads) {
		t.Errorf("replicas say that they answered %d and forwarded %d reads; clients know of %d of %d", answered, forwarded, here, reads)
	}

	frozen := g.replicas()[0]
	must(t, syscall.Kill(frozen.PID, syscall.SIGSTOP))
	place(int(first.Node)-1, "55000.00")
	thawed := make(chan bool)
	go func() {
		b, err := g.book(t.Context(), frozen)
		thawed <- err == nil && b.has("55000.00")
	}()
	must(t, syscall.Kill(frozen.PID, syscall.SIGCONT))
	if !<-thawed {
		t.Error("a replica that stood still shows no order that was placed meanwhile")
	}
	g.deserted(frozen, first)
}

// deserted kills all nodes but one, which answers no reads from then on.
func (g *trio) deserted(last, leader nodeLine) {
	g.t.Helper()
	for _, n := range g.nodes {
		if n != last {
			must(g.t, syscall.Kill(n.PID, syscall.SIGKILL))
		}
	}
	asked := 0
	within(g.t, patience, "no leader", func() bool {
		asked++
		if b, err := g.book(g.t.Context(), last); err == nil && b.Success {
			g.t.Fatalf("a node alone, whose leader %d was killed, answers read %d with %+v", leader.Node, asked, b)
		}
		return g.status(last.Node).Leader == 0
	})
}

// TestReadsAreCountedAtTheirNode reads at a replica until it refuses the address, as its limit has it. The other nodes go on to
// answer it, and the replica another address.
func TestReadsAreCountedAtTheirNode(t *testing.T) {
	g := startTrioOf(t, append([]string{"--limits=production"}, trioArgs...)...)
	at := g.replicas()[0]
	const mostly = 2000 // some 50 a second and 200 at once are taken
	refused := false
	for n := 0; n < mostly && !refused; n++ {
		refused = g.ask("127.0.0.1", at, "/spot/time", "{}").status == http.StatusTooManyRequests
	}
	if !refused {
		t.Fatalf("a replica answers %d reads of one address", mostly)
	}
	for _, n := range g.nodes {
		if a := g.ask("127.0.0.2", n, "/spot/time", "{}"); a.status != http.StatusOK {
			t.Errorf("another address at node %d: %+v", n.Node, a)
		}
		if n != at {
			if a := g.ask("127.0.0.1", n, "/spot/time", "{}"); a.status != http.StatusOK {
				t.Errorf("the address at node %d: %+v", n.Node, a)
			}
		}
	}
}
