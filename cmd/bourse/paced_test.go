package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"testing"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// bookPage is what a page knows of a book that it keeps from a paced stream.
type bookPage struct {
	seq        uint64
	bids, asks map[string]string
}

// bookNews is a message of the stream, or the answer of /spot/orderbook.
type bookNews struct {
	Class     string
	Prev, Seq uint64
	State     *struct {
		Bids, Asks []struct{ Price, Amount string }
	}
	Bids json.RawMessage
	Asks json.RawMessage
}

// take takes a message.
func (b *bookPage) take(t *testing.T, text []byte) {
	t.Helper()
	var m bookNews
	must(t, json.Unmarshal(text, &m))
	switch {
	case m.Class == "reset":
		b.seq, b.bids, b.asks = m.Seq, map[string]string{}, map[string]string{}
		for _, l := range m.State.Bids {
			b.bids[l.Price] = l.Amount
		}
		for _, l := range m.State.Asks {
			b.asks[l.Price] = l.Amount
		}
	case m.Class == "data" && m.Prev > b.seq:
		t.Fatalf("behind %d comes %s", b.seq, text)
	case m.Class == "data" && m.Seq > b.seq:
		b.seq = m.Seq
		b.change(t, b.bids, m.Bids)
		b.change(t, b.asks, m.Asks)
	}
}

// change applies the rows of a message to a side.
func (b *bookPage) change(t *testing.T, side map[string]string, rows json.RawMessage) {
	t.Helper()
	var list [][2]string
	must(t, json.Unmarshal(rows, &list))
	for _, row := range list {
		if side[row[0]] = row[1]; row[1] == "0" {
			delete(side, row[0])
		}
	}
}

// opened opens the paced book's stream.
func (s *server) opened() net.Conn {
	s.t.Helper()
	conn, _, _, err := ws.Dial(s.t.Context(), "ws"+s.url[len("http"):]+"/stream")
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	must(s.t, wsutil.WriteClientText(conn, []byte(`{"op":"sub","id":1,"streams":"BTC/USDT@book"}`)))
	return conn
}

// TestPacedBookAcrossKills keeps a book from the paced stream while orders come, kills the
// exchange between two of them, and comes back each time: the book is that of REST at the same
// number, with all that was acknowledged.
func TestPacedBookAcrossKills(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	_, key := s.customer("ada")
	page := new(bookPage)
	for round := range 3 {
		conn := s.opened()
		for i := range 40 {
			price := 59000 + (i*7+round*3)%20
			s.limit(key, []string{"BUY", "SELL"}[i%2], strconv.Itoa(price+10*(i%2)), fmt.Sprintf("0.0%d", 1+i%9))
		}
		page.reaches(s, conn)
		s.limit(key, "BUY", "58000", "0.01")
		s.kill()
		for {
			text, err := wsutil.ReadServerText(conn)
			if err != nil {
				break // the connection has ended
			}
			page.take(t, text)
		}
		s.start()
	}

	seq := page.seq
	page.reaches(s, s.opened())
	if page.seq < seq {
		t.Errorf("the book was at %d before the last kill, and is at %d", seq, page.seq)
	}
}

// reaches takes messages until the page has all that REST shows, and compares both.
func (b *bookPage) reaches(s *server, conn net.Conn) {
	s.t.Helper()
	res, err := http.Get(s.url + "/spot/orderbook?pair=BTC/USDT")
	must(s.t, err)
	defer func() { _ = res.Body.Close() }()
	var rest struct {
		Seq        uint64
		Bids, Asks []struct{ Price, Amount string }
	}
	must(s.t, json.NewDecoder(res.Body).Decode(&rest))
	for begun := false; !begun || b.seq < rest.Seq; {
		text, err := wsutil.ReadServerText(conn)
		must(s.t, err)
		b.take(s.t, text)
		begun = begun || b.bids != nil
	}

	want := bookPage{rest.Seq, map[string]string{}, map[string]string{}}
	for _, l := range rest.Bids {
		want.bids[l.Price] = l.Amount
	}
	for _, l := range rest.Asks {
		want.asks[l.Price] = l.Amount
	}
	if !reflect.DeepEqual(*b, want) {
		s.t.Fatalf("the page has\n%+v\nREST has\n%+v", *b, want)
	}
}
