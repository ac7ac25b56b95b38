package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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

// TestReplicasBoundTheirClients has a node that reaches no leader count the streams that a client wants to open, which the leader counts
// too late, once they have cost it a connection, and take no more connections of an address than a leader does.
func TestReplicasBoundTheirClients(t *testing.T) {
	g := startTrioOf(t, append([]string{"--limits=production"}, trioArgs...)...)
	last, other := g.replicas()[0], g.replicas()[1]
	must(t, syscall.Kill(other.PID, syscall.SIGKILL))
	must(t, syscall.Kill(g.leader().PID, syscall.SIGKILL))
	within(t, patience, "no leader", func() bool { return g.status(last.Node).Leader == 0 })
	for _, upgrade := range []string{"websocket", ""} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+last.Listen+"/stream", nil)
		must(t, err)
		if upgrade != "" {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", upgrade)
		}
		a, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		must(t, a.Body.Close())
		if counted := a.Header.Get("RateLimit-Remaining") != ""; counted != (upgrade != "") || a.StatusCode < 500 {
			t.Errorf("upgrade to %q: counted %t, %s", upgrade, counted, a.Status)
		}
	}

	const mostly = 1002 // of which the last two are too many
	for n := range mostly {
		c, err := net.Dial("tcp", last.Listen)
		must(t, err)
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if answered, _ := c.Read(make([]byte, 1)); answered == 0 {
			t.Logf("connection %d of an address is closed", n+1)
			return
		}
	}
	t.Errorf("a node takes %d connections of one address", mostly)
}

// roaming are the answers to the orders of clients of the nodes that do not lead, by their ids.
type roaming struct {
	acked, refused, unknown []told
}

// order places an order at a node, and notes what the node says of it.
func (r *roaming) order(url, key, id string) {
	one := told{id, time.Now()}
	a, err := post(http.DefaultClient, url, "/spot/open_orders/new", map[string]any{
		"api_key": key, "pair": "BTC/USDT", "side": "BUY", "type": "LIMIT", "time_in_force": "IOC", "client_id": id, "price": "60000",
		"amount": "0.001",
	})
	switch {
	case err == nil && a.Success:
		r.acked = append(r.acked, one)
	case err != nil && (strings.Contains(err.Error(), "was not taken") || errors.Is(err, syscall.ECONNREFUSED)):
		r.refused = append(r.refused, one)
	default:
		r.unknown = append(r.unknown, one)
	}
}

// TestForwardedOrdersAreTold kills the leader under clients of the other nodes: the next leader has each order that was acknowledged, and
// none that was refused as not taken.
func TestForwardedOrdersAreTold(t *testing.T) {
	g := startTrio(t)
	first := g.leader()
	_, key := g.at(first).customer("trader")
	var acks atomic.Int64
	var clients [8]roaming
	var all sync.WaitGroup
	const before, after = 200, 400
	for i := range clients {
		at := g.replicas()[i%2]
		all.Go(func() {
			c := &clients[i]
			for n := 0; acks.Load() < after; n++ {
				acked := len(c.acked)
				c.order("http://"+at.Listen, key, fmt.Sprintf("told-%d-%d", i, n))
				if len(c.acked) > acked && acks.Add(1) == before {
					_ = syscall.Kill(first.PID, syscall.SIGKILL)
				}
			}
		})
	}
	all.Wait()

	var sum roaming
	for _, c := range clients {
		sum.acked, sum.refused = append(sum.acked, c.acked...), append(sum.refused, c.refused...)
		sum.unknown = append(sum.unknown, c.unknown...)
	}
	url := "http://" + g.next(first, key).Listen
	if lost := (&teller{key: key, acked: sum.acked}).missing(t, url); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged orders are missing, the first %v", len(lost), len(sum.acked), lost[0])
	}
	if untaken := (&teller{key: key, acked: sum.refused}).missing(t, url); len(untaken) < len(sum.refused) {
		t.Errorf("%d of %d orders that were refused as not taken were taken", len(sum.refused)-len(untaken), len(sum.refused))
	}
	t.Logf("%d orders were acknowledged, %d refused, %d unknown", len(sum.acked), len(sum.refused), len(sum.unknown))
}
