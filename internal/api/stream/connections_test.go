package stream_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// level has the fields of an orderBook message.
type level struct {
	Class string
	ID    int
	Seq   uint64
}

func parseLevel(t *testing.T, text string) (l level) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return l
}

// perRound is the number of orderBook messages of a round of churn.
const perRound = 200

// churn trades in rounds until more returns false: each round is one frame that places
// and cancels 100 orders.
func (x *exchange) churn(more func() bool) {
	next := bourse.OrderID(1)
	for goOn := true; goOn; goOn = more() {
		var commands []bourse.Command
		for range perRound / 2 {
			commands = append(commands, order(alice, limit(bourse.Buy, 5900000, 1000)),
				bourse.Command{Kind: bourse.CommandCancel, Account: alice, Order: next})
			next++
		}
		x.do(commands...)
	}
}

// rounds limits churn to n rounds.
func rounds(n int) (more func() bool) {
	return func() bool {
		n--
		return n > 0
	}
}

const (
	// queued is the capacity of a subscriber's queue in bytes.
	queued = 4 << 20
	// mostUnread bounds the unread bytes of a client before it is cut, far above the sum
	// of queue, writer and kernel buffers.
	mostUnread = 64 << 20
)

// TestSlowConsumerIsCut has one client that does not read while another one
// does: the first is ended with a reason and got no message out of order, the
// other one gets all of them. How much the kernel takes for the first depends on
// the machine, so that trading goes on until the server has cut it. What it did
// not get was held by the server: a full queue, and at most as much again that a
// writer has taken. A writer may send a little of it before it sees the cut.
func TestSlowConsumerIsCut(t *testing.T) {
	x := newExchange(t, 0)
	x.clock.Store(int64(time.Hour)) // distant deadlines: only the queue counts
	slow, quick := x.dial(), x.dial()
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	slow.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	quick.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)

	seq, sent, round := uint64(0), 0, 0
	x.churn(func() bool {
		round = quick.follow(seq)
		seq += perRound
		sent += round
		return x.server.Cut() == 0 && sent < mostUnread
	})
	if x.server.Cut() != 1 {
		t.Fatalf("the slow client was not cut after %d bytes", sent)
	}
	quick.ok(`{"op":"ping","id":2}`)

	if held := sent - slow.untilCut(); held < queued/2 || held > 2*queued+round {
		t.Errorf("the server held %d bytes for the slow client", held)
	} else {
		t.Logf("the server held %d bytes, the kernel %d", held, sent-held)
	}
}

// follow reads the orderBook messages of a round after a sequence, and returns their size
// in bytes.
func (c *client) follow(seq uint64) (size int) {
	c.Helper()
	for range perRound {
		seq++
		f, err := c.next()
		if err != nil || !strings.HasSuffix(string(f.Payload), fmt.Sprintf(`"seq":%d}`, seq)) {
			c.Fatalf("message %d: %s, %v", seq, f.Payload, err)
		}
		size += ws.HeaderSize(f.Header) + len(f.Payload)
	}
	return size
}

// untilCut reads orderBook messages from the first one until the connection is closed as
// too slow, and returns their size in bytes.
func (c *client) untilCut() (size int) {
	c.Helper()
	for seq := uint64(1); ; seq++ {
		f, err := c.next()
		if err != nil {
			c.Fatalf("after %d messages: %v", seq-1, err)
		}
		if f.Header.OpCode == ws.OpClose {
			c.isClose(f, 4408, "slow, resume with since")
			return size
		}
		if got := parseLevel(c.T, string(f.Payload)); got.Seq != seq {
			c.Fatalf("message %d has number %d", seq, got.Seq)
		}
		size += ws.HeaderSize(f.Header) + len(f.Payload)
	}
}

// TestSubscribingWhileItHappens subscribes and unsubscribes during messages: there is no
// gap between the two answers, and no message outside of them.
func TestSubscribingWhileItHappens(t *testing.T) {
	x := newExchange(t, 0)
	var work sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		c := x.dial()
		work.Go(func() {
			for id := 1; ; id += 2 {
				select {
				case <-stop:
					return
				default:
				}
				if !c.visit(id) {
					return
				}
			}
		})
	}
	x.churn(rounds(50))
	close(stop)
	work.Wait()
}

// visit subscribes and unsubscribes again, and reports success.
func (c *client) visit(id int) bool {
	subscribed, last := false, uint64(0)
	c.send(fmt.Sprintf(`{"op":"sub","id":%d,"streams":"BTC/USDT@orderBook"}`, id))
	c.send(fmt.Sprintf(`{"op":"unsub","id":%d,"streams":"BTC/USDT@orderBook"}`, id+1))
	for {
		f, err := c.next()
		if err != nil {
			c.Error(err)
			return false
		}
		switch m := parseLevel(c.T, string(f.Payload)); {
		case strings.Contains(string(f.Payload), "Too many requests"):
			return false
		case m.Class == "resp" && m.ID == id:
			subscribed = true
		case m.Class == "resp":
			return subscribed && m.ID == id+1
		case !subscribed, last != 0 && m.Seq != last+1:
			c.Errorf("message %d came after %d, subscribed %v", m.Seq, last, subscribed)
			return false
		default:
			last = m.Seq
		}
	}
}

// TestSnapshotAndStreamJoin reads the book like the endpoint while subscribed: it is
// never older than a message sent before.
func TestSnapshotAndStreamJoin(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	var work sync.WaitGroup
	work.Go(func() { x.churn(rounds(20)) })
	sent := uint64(0)
	for range 20 * perRound {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		sent = parseLevel(t, string(f.Payload)).Seq
		if seen := x.view.BookSeq(1); seen < sent {
			t.Fatalf("the book shows %d, sent was %d", seen, sent)
		}
	}
	work.Wait()
	if book := x.view.Depth(1).Seq; book != sent {
		t.Errorf("the book is at %d, the last change was %d", book, sent)
	}
}

func TestRevokedKey(t *testing.T) {
	x := newExchange(t, 0)
	revoked, other, nobody := x.dial(), x.dial(), x.dial()
	revoked.ok(`{"op":"auth","id":1,"api_key":"alice"}`)
	revoked.ok(`{"op":"sub","id":2,"streams":["myOrders","BTC/USDT@orderBook"]}`)
	other.ok(`{"op":"auth","id":1,"api_key":"alice again"}`)
	nobody.ok(`{"op":"ping","id":1}`)
	x.keys.revoke(aliceKey)
	x.server.Revoke(1)
	revoked.ended(ws.StatusPolicyViolation, "key revoked")
	other.ok(`{"op":"ping","id":2}`)
	nobody.ok(`{"op":"ping","id":2}`)
	x.dial().ask(`{"op":"auth","id":1,"api_key":"alice"}`, failed(1, "INVALID_KEY", "Unauthorized"))
}

// TestKeyRevokedDuringAuth revokes a key between the two checks of auth.
func TestKeyRevokedDuringAuth(t *testing.T) {
	x := newExchange(t, 0)
	var once sync.Once
	x.keys.passed = func() {
		once.Do(func() {
			x.keys.revoke(bobKey)
			x.server.Revoke(3)
		})
	}
	c := x.dial()
	c.ask(`{"op":"auth","id":1,"api_key":"bob"}`, failed(1, "INVALID_KEY", "Unauthorized"))
	c.ask(`{"op":"sub","id":2,"streams":"myOrders"}`, failed(2, "UNAUTHORIZED", "Unauthorized"))
	c.ok(`{"op":"auth","id":3,"api_key":"alice"}`) // the connection still has no account
}

// TestSecretsAreNotLogged searches a server's log for keys.
func TestSecretsAreNotLogged(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	for _, key := range []account.Secret{"broken", aliceKey, "nobody"} {
		c.send(fmt.Sprintf(`{"op":"auth","id":1,"api_key":%q}`, string(key)))
		c.receive()
		if strings.Contains(x.log.String(), string(key)) {
			t.Errorf("the key %s is in the log", string(key))
		}
	}
}

// TestPrivateStreamsOfOneAccount subscribes two connections of one account.
func TestPrivateStreamsOfOneAccount(t *testing.T) {
	x := newExchange(t, 0)
	a, b := x.dial(), x.dial()
	for c, key := range map[*client]string{a: "alice", b: "alice again"} {
		c.ok(`{"op":"auth","id":1,"api_key":"` + key + `"}`)
		c.ok(`{"op":"sub","id":2,"streams":"myOrders"}`)
	}
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	got := a.drain()
	if len(got) != 1 || len(b.drain()) != 1 {
		t.Errorf("got %v", got)
	}
	a.ok(`{"op":"unsub","id":3,"streams":"myOrders"}`)
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	if got := a.drain(); len(got) != 0 {
		t.Errorf("behind the unsubscription came %v", got)
	}
	if got := b.drain(); len(got) != 1 {
		t.Errorf("the other connection got %v", got)
	}
}
