package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/stream"
)

// pair is a leader and a node that follows it: both carry out the same commands, the latter some later.
type pair struct {
	leader, node *exchange
	// behind are the commands that node lacks.
	behind []bourse.Command
}

func newPair(t *testing.T) *pair {
	p := &pair{leader: newExchange(t, 0), node: newExchange(t, 0)}
	p.node.server.Options = stream.Options{
		Feed: p.node.feed, View: p.node.view, History: p.node.spot.History, State: p.node.state, Log: p.node.server.Log,
		From: p.node.server.From, Clock: p.node.server.Clock, After: p.node.after,
		Elsewhere: func(*http.Request) (io.ReadWriteCloser, error) {
			conn, _, _, err := ws.Dial(t.Context(), p.leader.url)
			return conn, err
		},
	}
	return p
}

// trade lets the leader trade some lots, and the node once it catches up.
func (p *pair) trade(n bourse.Lots) {
	for _, cmd := range []bourse.Command{
		order(alice, limit(bourse.Sell, 6100000, n*lots)), order(bob, limit(bourse.Buy, 6100000, n*lots)),
	} {
		p.leader.do(cmd)
		p.behind = append(p.behind, cmd)
	}
}

// catchUp lets the node carry out all commands but some.
func (p *pair) catchUp(but int) {
	n := len(p.behind) - but
	p.node.do(p.behind[:n]...)
	p.behind = p.behind[n:]
}

const tradesAndBook = `{"op":"sub","id":3,"streams":["BTC/USDT@marketTrade","BTC/USDT@orderBook"]}`

// TestDepartedStreamsGoOn authenticates at a node that is behind the leader, on connections that have streams: some with messages,
// some without, one resumed, one left again. Each message comes once, with the bytes of the leader's.
func TestDepartedStreamsGoOn(t *testing.T) {
	for behind := range 6 {
		p := newPair(t)
		p.trade(1)
		p.trade(2)
		p.catchUp(0)
		all := p.leader.dial()
		all.resume([]string{"BTC/USDT@marketTrade", "BTC/USDT@orderBook"}, map[string]uint64{"BTC/USDT@orderBook": 2})
		told, resumed, quiet, left := p.leader.dial(), p.node.dial(), p.node.dial(), p.node.dial()
		told.ok(tradesAndBook)
		resumed.resume([]string{"BTC/USDT@marketTrade", "BTC/USDT@orderBook"}, map[string]uint64{"BTC/USDT@orderBook": 2})
		left.ok(tradesAndBook)
		left.ok(`{"op":"unsub","id":4,"streams":["BTC/USDT@orderBook"]}`)
		for n := range bourse.Lots(4) {
			p.trade(n + 3)
		}
		p.catchUp(behind)
		quiet.ok(`{"op":"sub","id":3,"streams":["BTC/USDT@marketTrade","BTC/USDT@ticker"]}`)

		var got [3][]string
		for i, c := range []*client{resumed, quiet, left} {
			got[i] = c.drain()
			c.ok(`{"op":"auth","id":1,"api_key":"alice"}`)
			c.send(`{"op":"sub","id":5,"streams":["myTrades"]}`)
			got[i] = append(got[i], c.drain()...)
		}
		p.trade(9)
		for i, c := range []*client{resumed, quiet, left} {
			got[i] = append(got[i], c.drain()...)
			if own := byStream(t, got[i])["myTrades"]; len(own) != 1 {
				t.Errorf("%d behind, connection %d is told of own trades %q", behind, i, own)
			}
		}

		whole, live := byStream(t, all.drain()), byStream(t, told.drain())
		shown := 6 - (behind+1)/2 // trades that the node had shown when quiet began
		for i, want := range []map[string][]string{
			{"BTC/USDT@marketTrade": whole["BTC/USDT@marketTrade"], "BTC/USDT@orderBook": whole["BTC/USDT@orderBook"]},
			{"BTC/USDT@marketTrade": live["BTC/USDT@marketTrade"][shown-2:]},
			{"BTC/USDT@marketTrade": live["BTC/USDT@marketTrade"]},
		} {
			messages := byStream(t, got[i])
			for name, list := range want {
				if !slices.Equal(messages[name], list) {
					t.Errorf("%d behind, connection %d, %s:\ngot  %s\nwant %s", behind, i, name,
						strings.Join(messages[name], "\n     "), strings.Join(list, "\n     "))
				}
			}
			if i == 2 && len(messages["BTC/USDT@orderBook"]) > 0 {
				t.Errorf("a stream that was left goes on: %q", messages["BTC/USDT@orderBook"])
			}
		}
		if tickers := byStream(t, got[1])["BTC/USDT@ticker"]; len(tickers) == 0 || !strings.Contains(tickers[len(tickers)-1], `"seq":`) {
			t.Errorf("no ticker: %q", got[1])
		}
	}
}

// TestDepartedClientsAreTheLeaders lets clients of a node authenticate with keys that do not suffice, which changes nothing, and
// with one that is revoked later. Closes come as the leader's, and the end of one connection ends the other.
func TestDepartedClientsAreTheLeaders(t *testing.T) {
	p := newPair(t)
	c := p.node.dial()
	c.ok(tradesAndBook)
	c.ask(`{"op":"sub","id":3,"streams":["myOrders"]}`, `{"class":"resp","id":3,"success":false,"error":"Unauthorized","code":"UNAUTHORIZED"}`)
	c.ask(`{"op":"auth","id":1,"api_key":"none"}`, `{"class":"resp","id":1,"success":false,"error":"Unauthorized","code":"INVALID_KEY"}`)
	c.ask(`{"op":"auth","id":2}`, `{"class":"resp","id":2,"success":false,"error":"Missing data: api_key","code":"MISSING_DATA"}`)
	p.trade(1)
	p.catchUp(0)
	if got := byStream(t, c.drain()); len(got["BTC/USDT@marketTrade"]) != 1 || len(got["BTC/USDT@orderBook"]) != 2 {
		t.Errorf("behind failed keys comes %q", got)
	}

	c.ok(`{"op":"auth","id":1,"api_key":"alice"}`)
	c.ok(`{"op":"auth","id":2,"api_key":"alice again"}`)
	p.leader.keys.revoke(aliceKey2)
	p.leader.server.Revoke(2)
	c.ended(ws.StatusPolicyViolation, "key revoked")

	bobs := p.node.login("bob")
	_ = bobs.conn.Close()
	armed := p.node.dial()
	armed.ok(`{"op":"auth","id":1,"api_key":"bob","cancel_on_close":true}`)
	p.leader.place(bob, limit(bourse.Buy, 6000000, lots))
	if p.leader.view.OpenOrderCount(bob) != 1 {
		t.Fatal("no order")
	}
	_ = armed.conn.Close()
	for p.leader.server.Len() > 0 {
	}
	if n := p.leader.view.OpenOrderCount(bob); n != 0 {
		t.Errorf("%d orders outlive their connection", n)
	}

	last := p.node.login("alice")
	p.leader.server.Suspend("the disk hangs")
	last.ended(ws.StatusGoingAway, "the disk hangs")
}

// TestDepartedClientsStay ends the streams of a node that is behind the leader. A client that has departed stays, and its orders with
// it: the leader sends what it gets.
func TestDepartedClientsStay(t *testing.T) {
	p := newPair(t)
	own, armed := p.node.dial(), p.node.dial()
	own.ok(tradesAndBook)
	armed.ok(`{"op":"auth","id":1,"api_key":"bob","cancel_on_close":true}`)
	p.leader.place(bob, limit(bourse.Buy, 6000000, lots))
	p.node.server.EndOwn("behind")
	own.ended(ws.StatusGoingAway, "behind")
	armed.ok(`{"op":"sub","id":2,"streams":["myOrders"]}`)
	if n := p.leader.view.OpenOrderCount(bob); n != 1 {
		t.Errorf("%d orders", n)
	}
}

// TestMovedStreamsWait authenticates for an account whose limit of reads is used up at the leader, on a connection with streams. They
// move once there is room. Without any for long, the connection ends with the reason.
func TestMovedStreamsWait(t *testing.T) {
	for _, perSecond := range []float64{1, 0.001} {
		p := newPair(t)
		p.leader.server.Limits = api.NewLimiter(api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: perSecond, Burst: 10}}}, p.leader.server.Clock)
		p.leader.server.Limits.Charge(api.Reads, api.Payer{Account: alice}, 20)
		p.node.server.After = func(d time.Duration) <-chan time.Time {
			p.leader.clock.Add(int64(d))
			p.node.clock.Add(int64(d))
			return p.node.after(d)
		}
		c := p.node.dial()
		c.ok(tradesAndBook)
		c.ok(`{"op":"auth","id":1,"api_key":"alice"}`)
		if perSecond < 1 {
			c.ended(ws.StatusGoingAway, "too many reads")
			continue
		}
		c.ok(`{"op":"ping","id":2}`)
		p.trade(1)
		if got := c.drain(); len(byStream(t, got)["BTC/USDT@marketTrade"]) != 1 {
			t.Errorf("a trade is told as %q", got)
		}
	}
}

// TestDepartedClientsAreBounded counts each auth at a node as a request of its source, and takes none while the leader is away.
func TestDepartedClientsAreBounded(t *testing.T) {
	p := newPair(t)
	p.node.server.Limits = api.NewLimiter(api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 0.01, Burst: 4}}}, p.node.server.Clock)
	dials, dial := 0, p.node.server.Elsewhere
	p.node.server.Elsewhere = func(r *http.Request) (io.ReadWriteCloser, error) {
		if dials++; dials == 2 {
			return nil, bourse.Errorf(bourse.CodeUnavailable, "No leader")
		}
		return dial(r)
	}
	c := p.node.dial()
	for i, want := range []string{"INVALID_KEY", "UNAVAILABLE", "INVALID_KEY", "RATE_LIMIT", "RATE_LIMIT"} {
		c.send(fmt.Sprintf(`{"op":"auth","id":%d,"api_key":"none"}`, i))
		if got := c.receive(); !strings.Contains(got, want) {
			t.Errorf("the answer to auth %d is %s, want %s", i, got, want)
		}
	}
	if dials != 3 {
		t.Errorf("%d connections to the leader", dials)
	}
}

// brokenAnswer is a leader's connection with an answer of its own.
type brokenAnswer struct {
	io.Reader
	closed atomic.Bool
}

func (b *brokenAnswer) Write(p []byte) (int, error) { return len(p), nil }

func (b *brokenAnswer) Close() error {
	b.closed.Store(true)
	return nil
}

// TestBrokenAnswersOfALeader gives a node answers that are none. Its client is told that there was no answer, and goes on.
func TestBrokenAnswersOfALeader(t *testing.T) {
	p := newPair(t)
	answers := make(chan *brokenAnswer, 1)
	p.node.server.Elsewhere = func(*http.Request) (io.ReadWriteCloser, error) { return <-answers, nil }
	for _, frame := range []string{
		"", "\x81", "\x81\x05ab", "\x01\x02ab", "\x82\x02ab", "\x81\x82aaaaab", "\xc1\x02ab", "\x88\x02\x03\xe8",
		"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "\x81\x7f\x00\x00\x00\x00\x0f\xff\xff\xff", "\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		b := &brokenAnswer{Reader: strings.NewReader(frame)}
		answers <- b
		c := p.node.dial()
		c.send(`{"op":"auth","id":1,"api_key":"alice"}`)
		if got := c.receive(); !strings.Contains(got, `"code":"UNAVAILABLE"`) || !b.closed.Load() {
			t.Errorf("%q: %s, closed %t", frame, got, b.closed.Load())
		}
		c.ok(tradesAndBook)
	}
}

// TestNodesAreCurrent subscribes at a node whose view is behind: it waits for the view first, and refuses when it cannot have it.
func TestNodesAreCurrent(t *testing.T) {
	p := newPair(t)
	var mu sync.Mutex // guards p
	mu.Lock()
	p.trade(1)
	mu.Unlock()
	var behind error
	p.node.server.Current = func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if behind == nil {
			p.catchUp(0)
		}
		return behind
	}
	c := p.node.dial()
	c.resume([]string{"BTC/USDT@marketTrade"}, map[string]uint64{"BTC/USDT@marketTrade": 1})
	mu.Lock()
	behind = errors.New("no leader")
	mu.Unlock()
	c.send(`{"op":"sub","id":3,"streams":["BTC/USDT@orderBook"]}`)
	if got := c.receive(); !strings.Contains(got, `"code":"UNAVAILABLE"`) {
		t.Error(got)
	}
}

// TestDepartedClientsWhoDoNotRead has a client of a node read nothing, behind its auth, until the leader cuts the connection. What
// the client reads then has no gap before the leader's close.
func TestDepartedClientsWhoDoNotRead(t *testing.T) {
	p := newPair(t)
	p.leader.clock.Store(int64(time.Hour)) // distant deadlines: only the queue counts
	p.node.clock.Store(int64(time.Hour))
	slow, quick := p.node.login("alice"), p.leader.dial()
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	slow.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	quick.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)

	seq, sent := uint64(0), 0
	p.leader.churn(func() bool {
		sent += quick.follow(seq)
		seq += perRound
		return p.leader.server.Cut() == 0 && sent < 2*mostUnread
	})
	if p.leader.server.Cut() != 1 {
		t.Fatalf("the slow client was not cut after %d bytes", sent)
	}
	slow.untilCut()
}
