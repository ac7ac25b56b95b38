package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

// owed sends a request to a node whose process is stopped, and returns once it waits in the node's port. The answer is
// empty if there is none.
func (g *trio) owed(n nodeLine, path string, body map[string]any) <-chan string {
	g.t.Helper()
	text, err := json.Marshal(body)
	must(g.t, err)
	written := make(chan error, 1)
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { written <- i.Err }}
	ctx := httptrace.WithClientTrace(g.t.Context(), trace)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.Listen+path, bytes.NewReader(text))
	must(g.t, err)
	answer := make(chan string, 1)
	go func() {
		own := &http.Transport{DisableKeepAlives: true}
		a, err := own.RoundTrip(r)
		if err != nil {
			answer <- ""
			return
		}
		text, _ := io.ReadAll(a.Body) // an answer that breaks off is none
		_ = a.Body.Close()
		answer <- string(text)
	}()
	must(g.t, <-written)
	return answer
}

// succeeded reports whether an answer of V1 says that its request was carried out.
func succeeded(answer string) bool { return strings.HasPrefix(answer, `{"success":true`) }

// revive lets a node go on that was stopped before another one led, with requests in its port. What it shows has an order
// that the leader acknowledged before, what it says it took is at the leader, and what it says it did not take is not.
func (g *trio) revive(zombie, leader nodeLine, key, price string) {
	g.t.Helper()
	api, err := client.New("http://"+leader.Listen, client.Options{Key: key})
	must(g.t, err)
	defer api.Close()
	_, err = api.Place(g.t.Context(), &client.NewOrder{
		Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.GTC,
		Price: client.Decimal(price), Amount: "0.001",
	})
	must(g.t, err)

	const each = 20
	var reads [2 * each]<-chan string
	var orders [each]<-chan string
	name := func(i int) string { return fmt.Sprintf("zombie-%d-%d", zombie.Node, i) }
	for i := range each {
		reads[i] = g.owed(zombie, "/spot/orderbook", map[string]any{"pair": "BTC/USDT"})
		reads[each+i] = g.owed(zombie, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0})
		orders[i] = g.owed(zombie, "/spot/open_orders/new", map[string]any{
			"api_key": key, "pair": "BTC/USDT", "side": "BUY", "type": "LIMIT", "time_in_force": "IOC",
			"price": "60000", "amount": "0.001", "client_id": name(i),
		})
	}
	must(g.t, syscall.Kill(zombie.PID, syscall.SIGCONT))

	shown, took := 0, 0
	for _, read := range reads {
		if a := <-read; succeeded(a) {
			shown++
			if !strings.Contains(a, `"`+price) {
				g.t.Errorf("node %d, which stood still, shows no order that was acknowledged before: %.300s", zombie.Node, a)
			}
		}
	}
	for i, order := range orders {
		a := <-order
		_, err := api.OrderByClientID(g.t.Context(), name(i))
		switch {
		case err != nil && !errors.Is(err, client.ErrOrderNotFound):
			g.t.Fatal(err)
		case succeeded(a):
			took++
			if err != nil {
				g.t.Errorf("node %d, which stood still, acknowledges an order that the leader does not have: %s", zombie.Node, a)
			}
		case strings.Contains(a, "not taken") && err == nil:
			g.t.Errorf("the leader has an order of which node %d says that it was not taken: %s", zombie.Node, a)
		}
	}
	g.t.Logf("node %d answered %d of %d reads and acknowledged %d of %d orders once it went on",
		zombie.Node, shown, len(reads), took, len(orders))
}

// TestZombieAnswers stops the leader's process until another node leads and has taken an order, and then that of a replica until
// a third one does. Each goes on with requests in its port, which it reads before it can know of the other leader.
func TestZombieAnswers(t *testing.T) {
	g := startTrio(t)
	first := g.leader()
	_, key := g.at(first).customer("trader")
	g.freeze(first)
	second := g.next(first, key)
	g.revive(first, second, key, "55001.00")
	within(t, patience, "a replica", func() bool { return g.status(second.Node).Nodes[first.Node-1].Role == "replica" })

	third := g.nodes[6-first.Node-second.Node-1]
	g.freeze(first)
	within(t, patience, "a transfer", func() bool {
		_, _, code := run(t, "cluster", "transfer", "--data", nodeDir(g.data, second.Node), "--to", fmt.Sprint(third.Node))
		return code == 0
	})
	g.revive(first, third, key, "55002.00")
	g.end(third.Node)
}
