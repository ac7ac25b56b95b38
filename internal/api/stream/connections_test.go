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

// level is what tests read of an orderBook message.
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

// churn is commands that place an order and cancel it, which is two messages on
// orderBook for each two commands.
func (x *exchange) churn(rounds int, between func()) {
	next := bourse.OrderID(1)
	for range rounds {
		var commands []bourse.Command
		for range 100 {
			commands = append(commands, order(alice, limit(bourse.Buy, 5900000, 1000)),
				bourse.Command{Kind: bourse.CommandCancel, Account: alice, Order: next})
			next++
		}
		x.do(commands...)
		between()
	}
}

// TestSlowConsumerIsCut has one client that does not read while another one
// does: the first is ended with a reason and got no message out of order, the
// other one gets all of them.
func TestSlowConsumerIsCut(t *testing.T) {
	x := newExchange(t, 0)
	x.clock.Store(int64(time.Hour)) // deadlines are far away: the queue alone counts
	slow, quick := x.dial(), x.dial()
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	slow.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	quick.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	const rounds = 250
	seq := uint64(0)
	x.churn(rounds, func() {
		for range 200 {
			seq++
			f, err := quick.next()
			if err != nil || !strings.HasSuffix(string(f.Payload), fmt.Sprintf(`"seq":%d}`, seq)) {
				t.Fatalf("message %d: %s, %v", seq, f.Payload, err)
			}
		}
	})
	quick.ok(`{"op":"ping","id":2}`)
	for seq = 1; ; seq++ {
		f, err := slow.next()
		if err != nil {
			t.Fatalf("after %d messages: %v", seq-1, err)
		}
		if f.Header.OpCode == ws.OpClose {
			slow.isClose(f, ws.StatusPolicyViolation, "too slow")
			break
		}
		if got := parseLevel(t, string(f.Payload)); got.Seq != seq {
			t.Fatalf("message %d has number %d", seq, got.Seq)
		}
	}
}

// TestSubscribingWhileItHappens subscribes and unsubscribes while messages come:
// between the answers there is no gap, and nothing comes outside of them.
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
	x.churn(50, func() {})
	close(stop)
	work.Wait()
}

// visit subscribes and unsubscribes again, and reports whether all was well.
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

// TestSnapshotAndStreamJoin takes the book as the endpoint would, while
// subscribed: it is never older than a message that was sent before.
func TestSnapshotAndStreamJoin(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	var work sync.WaitGroup
	work.Go(func() { x.churn(20, func() {}) })
	sent := uint64(0)
	for range 20 * 200 {
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
	x.dial().ask(`{"op":"auth","id":1,"api_key":"alice"}`, failed(1, "Unauthorized"))
}

// TestKeyRevokedDuringAuth revokes a key between the check and the login.
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
	c.ask(`{"op":"auth","id":1,"api_key":"bob"}`, failed(1, "Unauthorized"))
	c.ask(`{"op":"sub","id":2,"streams":"myOrders"}`, failed(2, "Unauthorized"))
	c.ok(`{"op":"auth","id":3,"api_key":"alice"}`) // it still belongs to nobody
}

// TestSecretsAreNotLogged looks for keys in what a server writes down.
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

// TestPrivateStreamsOfOneAccount has two connections of one account.
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
