package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/bourse-exchange/bourse/client"
)

// TestReplicasStream follows the trades of a market at each node, and from node to node, while the traders of a sandbox
// trade, another node is made the leader, and then that one is killed. Each client is told of each trade once, with the
// same bytes at all nodes. Replicas send streams themselves, and one that stays a replica ends none for another leader.
func TestReplicasStream(t *testing.T) {
	metrics := freeAddresses(t, 3)
	g := startTrioOf(t, "--metrics-listen", metrics, "--catalogue=demo", "--log-level=info")
	const pair = "BTC/USDT"
	var all []string
	for _, n := range g.nodes {
		all = append(all, n.Listen)
	}
	var rovers []*rover
	for _, n := range g.nodes {
		port, err := portOf(metrics, n.Node)
		must(t, err)
		rovers = append(rovers, stayAt(t, n, port, pair))
	}
	rovers = append(rovers, rove(t.Context(), pair, rand.New(rand.NewPCG(23, 0)), 20, all...))
	_, key := g.at(g.leader()).customer("taker")
	taker, err := client.New("http://"+g.replicas()[1].Listen, client.Options{Key: key})
	must(t, err)
	defer taker.Close()
	const some = 10
	more := func(what string, of ...*rover) {
		t.Helper()
		for _, w := range of {
			before, _ := w.told()
			within(t, patience, fmt.Sprintf("%s, client of %v", what, w.nodes), func() bool {
				must(t, w.failed())
				// The sandbox's traders take the other side. Without a leader the order is refused, and the next one comes.
				_, _ = taker.Place(t.Context(), &client.NewOrder{
					Pair: pair, Side: client.Buy, Type: client.MarketOrder, TimeInForce: client.IOC, Amount: "0.001",
				})
				now, _ := w.told()
				return now >= before+some
			})
		}
	}
	more("at first", rovers...)

	first := g.leader()
	next, last := g.replicas()[0], g.replicas()[1]
	if _, stderr, code := run(t, "cluster", "transfer", "--data", g.at(first).data, "--to", fmt.Sprint(next.Node)); code != 0 {
		t.Fatal(stderr)
	}
	more("behind a transfer", rovers...)
	if !rovers[last.Node-1].kept() {
		t.Errorf("a change of leader ended the stream of node %d, which stayed a replica", last.Node)
	}

	must(t, syscall.Kill(next.PID, syscall.SIGKILL))
	alive := slices.Delete(slices.Clone(rovers), int(next.Node)-1, int(next.Node))
	more("behind a kill", alive...)

	api, err := client.New("http://"+last.Listen, client.Options{})
	must(t, err)
	defer api.Close()
	for _, w := range alive {
		w.knows(t, api)
	}
	for _, w := range rovers {
		must(t, w.end())
	}
	agree(t, rovers...)
}

// stayAt follows at a node over a connection that a replica does not carry to the leader, as it does while its view is
// behind.
func stayAt(t *testing.T, n nodeLine, metrics, pair string) (w *rover) {
	t.Helper()
	within(t, patience, fmt.Sprintf("a stream of node %d itself", n.Node), func() bool {
		w = stay(t.Context(), pair, n.Listen)
		within(t, patience, fmt.Sprintf("a stream at node %d", n.Node), func() bool {
			must(t, w.failed())
			_, visits := w.told()
			return visits > 0
		})
		if n.Role == "leader" || metric(t, metrics, "bourse_replica_streams") == 1 &&
			metric(t, metrics, "bourse_replica_streams_forwarded") == 0 {
			return true
		}
		must(t, w.end())
		return false
	})
	return w
}

// TestStreamsAreCountedAtTheirNode names streams at a replica until it refuses the address, as its limit has it. The
// other nodes go on to take names of that address.
func TestStreamsAreCountedAtTheirNode(t *testing.T) {
	g := startTrioOf(t, append([]string{"--limits=production"}, trioArgs...)...)
	at := g.replicas()[0]
	const perRequest, perConnection, mostly = 1000, 4, 100 // some 500 a second and 20,000 at once are taken
	request, err := json.Marshal(map[string]any{"op": "unsub", "id": 1, "streams": slices.Repeat([]string{"tickers"}, perRequest)})
	must(t, err)
	name := func(n nodeLine, requests int) (refused bool) {
		t.Helper()
		conn, _, _, err := ws.Dial(t.Context(), "ws://"+n.Listen+"/stream")
		must(t, err)
		defer func() { _ = conn.Close() }()
		must(t, conn.SetDeadline(time.Now().Add(patience)))
		for i := range requests {
			must(t, wsutil.WriteClientText(conn, request))
			text, err := wsutil.ReadServerText(conn)
			must(t, err)
			if i == 0 && bytes.Contains(text, []byte("RATE_LIMIT")) {
				return true // by the address's limit: the connection has named none yet
			}
		}
		return false
	}
	refused := false
	for n := 0; n < mostly && !refused; n++ {
		refused = name(at, perConnection)
	}
	if !refused {
		t.Errorf("a replica takes %d names of one address", mostly*perConnection*perRequest)
	}
	for _, n := range g.nodes {
		if n != at && name(n, 1) {
			t.Errorf("node %d refuses names that another one counted", n.Node)
		}
	}
}
