package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/bourse-exchange/bourse/client"
)

// rover is a client without a key that follows the trades of a market from node to node: each connection is to another
// one, and asks for what comes behind the last message. It takes no message twice, and misses none.
type rover struct {
	pair string
	// nodes are the addresses of the nodes.
	nodes []string
	rng   *rand.Rand
	// most bounds the messages of a connection, quiet the time without one after which the rover goes to another node:
	// this one may stand still.
	most  int
	quiet time.Duration

	// mu guards what follows: the last message's number, the messages by theirs, the connections by node, how many of
	// them a replica ended as one that heard of no leader for five seconds, and what went wrong.
	mu      sync.Mutex
	last    uint64
	texts   map[uint64]string
	visits  map[string]int
	lone    int
	problem error
	end     func() error
}

const (
	// roverQuiet is the time without a message after which a rover that has other nodes goes to one.
	roverQuiet = 2 * time.Second
	// attendWithin bounds the time for a connection of a rover.
	attendWithin = 5 * time.Second
)

// rove begins to follow at nodes in turn.
func rove(ctx context.Context, pair string, rng *rand.Rand, most int, nodes ...string) *rover {
	w := &rover{pair: pair, nodes: nodes, rng: rng, most: most, quiet: roverQuiet}
	w.begin(ctx)
	return w
}

// stay begins to follow at one node, over one connection while that lasts.
func stay(ctx context.Context, pair, node string) *rover {
	w := &rover{
		pair: pair, nodes: []string{node}, rng: rand.New(rand.NewPCG(1, 1)), most: 1 << 40, quiet: patience,
	}
	w.begin(ctx)
	return w
}

func (w *rover) begin(ctx context.Context) {
	w.texts, w.visits = map[uint64]string{}, map[string]int{}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for at := w.rng.IntN(len(w.nodes)); ctx.Err() == nil && w.failed() == nil; at++ {
			w.visit(ctx, w.nodes[at%len(w.nodes)])
		}
	}()
	w.end = func() error {
		cancel()
		<-ended
		return w.failed()
	}
}

func (w *rover) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.problem
}

// visit follows some messages at a node.
func (w *rover) visit(ctx context.Context, node string) {
	late, cancel := context.WithTimeout(ctx, attendWithin)
	defer cancel()
	conn, early, _, err := ws.Dial(late, "ws://"+node+"/stream")
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(betweenAttempts):
		}
		return
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	from := struct {
		io.Reader
		io.Writer
	}{conn, conn}
	if early != nil {
		from.Reader = early
	}

	name := client.TradesOf(w.pair)
	request, err := json.Marshal(map[string]any{
		"op": "sub", "id": 1, "streams": []string{name}, "since": map[string]uint64{name: w.last},
	})
	if err != nil {
		panic(err)
	}
	_ = conn.SetDeadline(time.Now().Add(w.quiet))
	if wsutil.WriteClientText(conn, request) != nil {
		return
	}
	for left := 1 + w.rng.IntN(w.most); left > 0; left-- {
		_ = conn.SetDeadline(time.Now().Add(w.quiet))
		text, err := wsutil.ReadServerText(from)
		end := wsutil.ClosedError{}
		if errors.As(err, &end) && strings.HasPrefix(end.Reason, "this node hears of none that leads") {
			w.mu.Lock()
			w.lone++
			w.mu.Unlock()
		}
		if err != nil || !w.take(node, text) {
			return
		}
	}
}

// take takes a message; false ends the connection.
func (w *rover) take(node string, text []byte) bool {
	var m struct {
		Class, Code string
		Success     bool
		Seq         uint64
		TradeID     uint64 `json:"trade_id"`
	}
	err := json.Unmarshal(text, &m)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
	case m.Class == "resp" && !m.Success && m.Code != "UNAVAILABLE" && m.Code != "HISTORY_BEHIND":
		err = errors.New("refused")
	case m.Class == "resp":
		w.visits[node]++
		return m.Success
	case m.Class == "reset" && w.last == 0: // the market has more trades than history tells at once
		w.last = m.Seq
		return true
	case m.Class != "data" || m.Seq != w.last+1 || m.TradeID != m.Seq:
		err = fmt.Errorf("not the trade behind %d", w.last)
	default:
		w.last = m.Seq
		w.texts[m.Seq] = string(text)
		return true
	}
	w.problem = fmt.Errorf("%s of node %s, %s: %w", w.pair, node, text, err)
	return false
}

// knows wants a rover to have all trades that a node tells of.
func (w *rover) knows(t *testing.T, at *client.Client) {
	t.Helper()
	var last uint64
	for trade, err := range at.Trades(t.Context(), w.pair) {
		must(t, err)
		last = trade.TradeID
		break
	}
	within(t, patience, fmt.Sprintf("trade %d of %s", last, w.pair), func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		must(t, w.problem)
		return w.last >= last
	})
}

// told returns the trades that a rover was told of, and the connections that it had.
func (w *rover) told() (trades, visits int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.visits {
		visits += n
	}
	return len(w.texts), visits
}

// kept reports whether a rover has had one connection, but for those that a replica without a leader for long ended.
func (w *rover) kept() bool {
	_, visits := w.told()
	w.mu.Lock()
	defer w.mu.Unlock()
	return visits == 1+w.lone
}

// agree wants rovers to have been told the same.
func agree(t *testing.T, rovers ...*rover) {
	t.Helper()
	for _, w := range rovers[1:] {
		for seq, text := range rovers[0].texts {
			if other, known := w.texts[seq]; known && other != text {
				t.Errorf("nodes tell differently of a trade:\n%s\n%s", text, other)
			}
		}
	}
}
