package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

// replicas returns the nodes that do not lead at the start.
func (g *trio) replicas() (list []nodeLine) {
	for _, n := range g.nodes {
		if n.Role == "replica" {
			list = append(list, n)
		}
	}
	return list
}

// said is an answer to a client of a node.
type said struct {
	status int
	header http.Header
	body   string
}

// ask sends a body to a node, from an address of this machine, and returns the answer.
func (g *trio) ask(from string, n nodeLine, path, body string) said {
	g.t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	one := &http.Transport{DialContext: dialer.DialContext}
	defer one.CloseIdleConnections()
	r, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, "http://"+n.Listen+path, strings.NewReader(body))
	must(g.t, err)
	r.Header.Set("Bourse-Forwarded-Peer", "192.0.2.1:1") // which nodes alone may say
	for n := range 2000 {
		r.Header[strconv.FormatInt(int64(n), 36)] = []string{""} // as many as a node takes
	}
	a, err := one.RoundTrip(r)
	must(g.t, err)
	text, err := io.ReadAll(a.Body)
	must(g.t, err)
	must(g.t, a.Body.Close())
	return said{a.StatusCode, a.Header, string(text)}
}

// TestReplicasForward has clients use the nodes that do not lead as if they did: orders, reads of their own and streams. What is not
// taken because no node leads is refused as that, in its interface's form.
func TestReplicasForward(t *testing.T) {
	g := startTrio(t)
	first := g.leader()
	_, key := g.at(first).customer("trader")
	for _, n := range g.replicas() {
		api, err := client.New("http://"+n.Listen, client.Options{Key: key})
		must(t, err)
		t.Cleanup(api.Close)
		id := fmt.Sprint("at-", n.Node)
		if !buyAt("http://"+n.Listen, key, id) {
			t.Fatalf("node %d takes no order", n.Node)
		}
		if o, err := api.OrderByClientID(t.Context(), id); err != nil || o.ClientID != id {
			t.Errorf("node %d knows no order: %+v, %v", n.Node, o, err)
		}
		if a := g.ask("127.0.0.1", n, "/wallet/v2/io/transactions", "{}"); a.status != http.StatusUnauthorized {
			t.Errorf("a withdrawal without a key: %+v", a)
		}
		g.streams(api, n, key)
	}

	// Alone a node knows no leader: it takes nothing.
	last, other := g.replicas()[0], g.replicas()[1]
	must(t, syscall.Kill(other.PID, syscall.SIGKILL))
	must(t, syscall.Kill(first.PID, syscall.SIGKILL))
	within(t, patience, "no leader", func() bool { return g.status(last.Node).Leader == 0 })
	for path, form := range map[string]string{"/spot/open_orders/new": `{"success":false,"error":"`, "/account/v2/keys": `{"error":{"code":"`} {
		a := g.ask("127.0.0.1", last, path, "{}")
		if a.status < 500 || a.header.Get("Retry-After") == "" || !strings.HasPrefix(a.body, form) || !strings.Contains(a.body, "was not taken") {
			t.Errorf("%s without a leader: %+v", path, a)
		}
	}
}

// streams wants the messages of a trade to reach a client of a node that does not lead.
func (g *trio) streams(api *client.Client, n nodeLine, key string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), patience)
	defer cancel()
	placed := 0
	for e, err := range api.Follow(ctx, &client.Stream{Names: []string{client.MyOrders}}) {
		must(g.t, err)
		text, err := json.Marshal(e)
		must(g.t, err)
		if bytes.Contains(text, []byte("streamed-")) {
			return
		}
		if placed++; !buyAt("http://"+n.Listen, key, fmt.Sprint("streamed-", n.Node, "-", placed)) {
			g.t.Fatalf("node %d takes no order", n.Node)
		}
	}
}

// TestForwardedClientsAreCounted has a client guess keys at the nodes that do not lead until the leader refuses his address, as its limit
// of one guess a second has it. Another address is not refused, and nobody names another address than his own.
func TestForwardedClientsAreCounted(t *testing.T) {
	g := startTrioOf(t, append([]string{"--limits=production"}, trioArgs...)...)
	const path, guess, mostly = "/spot/open_orders", `{"api_key":"wrong","offset":0}`, 500
	refused := false
	for n := 0; n < mostly && !refused; n++ {
		refused = g.ask("127.0.0.1", g.replicas()[n%2], path, guess).status == http.StatusTooManyRequests
	}
	if !refused {
		t.Fatalf("no node refuses %d guesses of one address", mostly)
	}
	for _, n := range g.nodes {
		if a := g.ask("127.0.0.2", n, path, guess); a.status != http.StatusOK || !strings.Contains(a.body, "Unauthorized") {
			t.Errorf("another address at node %d: %+v", n.Node, a)
		}
	}
}
