package stream

import (
	"context"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

const (
	// maxMissed bounds the missed messages of a stream that are read from the history. A
	// client that missed more gets the state.
	maxMissed = 1000
	// resumeFor bounds the time in which a request resumes its streams before it leaves the
	// rest to resumeLate, and the reading of one stream there.
	resumeFor = 10 * time.Second
)

// State is the state that the messages of a counted stream lead to.
type State struct {
	// Seq is the number of the last message that the state includes. It may include later
	// ones, which then come again.
	Seq uint64
	// Body is the answer of the stream's REST endpoint.
	Body []byte
}

// resume subscribes to a stream behind the client's last message, since: it sends the missed
// messages, or else the present state, before live ones. If they cannot be read now, the
// stream begins later.
func (c *session) resume(ctx context.Context, t feed.Topic, since uint64) {
	payer := c.payer()
	if !c.subscriber.Await(ctx) {
		c.resumeLater(lateStream{hold: c.server.Feed.Hold(c.subscriber, t), since: since, payer: &payer})
		return
	}

	size, hold := c.server.Feed.Resume(c.subscriber, t, since)
	if hold == nil {
		c.server.Limits.ChargeAnswer(api.Reads, payer, size)
		return
	}
	l := lateStream{hold: hold, since: since, payer: &payer}
	if c.fill(ctx, &l) != nil {
		c.resumeLater(l)
	}
}

// orderSize is about the size of an open order in a state, in bytes.
const orderSize = 256

// expectedSize returns about the size of the state that fill will read of a topic, in bytes, for
// open orders. States of other streams are small, or shared between clients: zero.
func (s *Server) expectedSize(t feed.Topic, since uint64) int {
	if t.Kind != feed.OwnOrders || since == s.position(t) {
		return 0
	}
	return orderSize * s.View.OpenOrderCount(t.Account)
}

// resumable returns an error if the missed messages of streams cannot be told now: a node
// that is behind the client's seq would lead the client back, and a history that is behind
// does not have them.
func (c *session) resumable(since map[string]uint64, names []string, topics []feed.Topic) error {
	past := false
	for i, name := range names {
		at, resumes := since[name]
		if t := topics[i]; resumes && t.Kind.Counted() {
			now := c.server.position(t)
			if at > now {
				return bourse.Errorf(bourse.CodeBehind, "since: %s is at %d here, behind %d", quoted(name), now, at)
			}
			past = past || at < now && inHistory(t.Kind) && !c.server.Feed.Knows(t, at)
		}
	}
	if !past {
		return nil
	}
	return c.server.History.Ready(c.gone)
}

// inHistory reports whether missed messages or the state of a stream come from the history.
func inHistory(k feed.Kind) bool {
	return k == feed.Trades || k == feed.OwnTrades || k == feed.OwnTransfers
}

// missed are the messages that lead a client from where it was up to a number.
type missed struct {
	upTo     uint64
	messages [][]byte
}

// size returns the size of the messages in bytes.
func (m *missed) size() (size int) {
	for _, b := range m.messages {
		size += len(b)
	}
	return size
}

// missed collects a topic's messages behind since, or its state, without the feed's memory.
func (s *Server) missed(ctx context.Context, t feed.Topic, since uint64) (missed, error) {
	switch {
	case t.Kind == feed.PacedBook: // begins with the state
	case !t.Kind.Counted():
		return s.present(t), nil
	default:
		upTo := s.position(t)
		if upTo == since {
			return missed{upTo: upTo}, nil
		}
		if since < upTo && upTo-since <= maxMissed {
			m, found, err := s.past(ctx, t, history.Span{First: since + 1, Last: upTo})
			if found || err != nil {
				return m, err
			}
		}
	}

	state, err := s.State(ctx, t)
	if err != nil {
		return missed{}, err
	}
	return missed{state.Seq, [][]byte{s.resetOf(t, &state)}}, nil
}

// position returns the number of the last message of a counted topic that the view shows.
func (s *Server) position(t feed.Topic) uint64 {
	who, _ := s.View.Account(t.Account)
	switch t.Kind {
	case feed.Trades:
		return s.View.LastTrade(t.Market)
	case feed.Book:
		return s.View.BookSeq(t.Market)
	case feed.OwnOrders:
		return who.Streams.Orders
	case feed.OwnTrades:
		return who.Fills
	case feed.OwnBalances:
		return who.Streams.Balances
	case feed.OwnTransfers:
		return who.Streams.Transfers
	default:
		bourse.Impossible("topic of kind %d is not counted", t.Kind)
		return 0
	}
}

// past returns messages from the history; false if the history does not have the topic's.
func (s *Server) past(ctx context.Context, t feed.Topic, span history.Span) (m missed, found bool, err error) {
	c := s.View.Catalogue()
	m.upTo = span.Last
	switch t.Kind {
	case feed.Trades:
		list, err := s.History.TradesSpan(ctx, t.Market, span)
		if err != nil {
			return m, false, err
		}
		for i := len(list) - 1; i >= 0; i-- {
			m.add(c, t, list[i].Number, func(w *wire.Writer) { writeTrade(w, c, &list[i]) })
		}

	case feed.OwnTrades:
		list, err := s.History.FillsSpan(ctx, t.Account, span)
		if err != nil {
			return m, false, err
		}
		for i := len(list) - 1; i >= 0; i-- {
			m.add(c, t, list[i].Ordinal, func(w *wire.Writer) { writeFill(w, c, &list[i]) })
		}
	default:
		return m, false, nil
	}
	// The list is shorter if a store was rebuilt and is not complete yet.
	return m, uint64(len(m.messages)) == span.Last-span.First+1, nil
}

// present returns the present state of a topic that is not counted, as its own message;
// there is none for candles before the first trade.
func (s *Server) present(t feed.Topic) missed {
	m := missed{upTo: uint64(s.View.Seq())}
	c := s.View.Catalogue()
	market := c.Markets[t.Market]
	switch t.Kind {
	case feed.Ticker:
		now := s.View.Ticker(t.Market)
		m.add(c, t, m.upTo, func(w *wire.Writer) { writeTicker(w, market, &now) })
	case feed.TickerEx:
		now := s.View.Ticker(t.Market)
		m.add(c, t, m.upTo, func(w *wire.Writer) { writeTickerEx(w, c, market, &now) })
	case feed.PacedTape:
		m.upTo = s.View.LastTrade(t.Market) // the next message has the missing trades
	case feed.PacedTickers:
		days, at := s.View.Days(c.Listed())
		m.upTo = uint64(at.Seq)
		m.add(c, t, m.upTo, func(w *wire.Writer) { writeTickers(w, c, c.Listed(), days) })
	case feed.Candles, feed.PacedCandles:
		if now, traded := s.View.Candle(t.Market, t.Resolution); traded {
			m.add(c, t, m.upTo, func(w *wire.Writer) { writeCandle(w, market, &now) })
		}
	default:
		bourse.Impossible("topic of kind %d tells no state", t.Kind)
	}
	return m
}

// add adds a data message.
func (m *missed) add(c *view.Catalogue, t feed.Topic, seq uint64, body func(*wire.Writer)) {
	w := wire.NewWriter(make([]byte, HeaderRoom, 512))
	beginData(w, c, t)
	body(w)
	w.Uint("seq", seq)
	w.EndObject()
	m.messages = append(m.messages, Frame(w.Bytes()))
}

// bookReset is the last reset of a market's book, for all clients.
type bookReset struct {
	mu      sync.Mutex
	body    []byte
	message []byte
}

// resetOf returns the message that replaces a client's state of a stream. A book's is made
// once for each state: it may be large, and many clients may come at once.
func (s *Server) resetOf(t feed.Topic, state *State) []byte {
	if t.Kind != feed.Book && t.Kind != feed.PacedBook {
		return s.reset(t, state)
	}

	known, _ := s.books.LoadOrStore(t, new(bookReset))
	last := known.(*bookReset)
	last.mu.Lock()
	defer last.mu.Unlock()
	if len(last.body) == 0 || &last.body[0] != &state.Body[0] { // the endpoint shares bodies as well
		last.body, last.message = state.Body, s.reset(t, state)
	}
	return last.message
}

// reset makes a reset.
func (s *Server) reset(t feed.Topic, state *State) []byte {
	w := wire.NewWriter(make([]byte, HeaderRoom, 256+len(state.Body)))
	w.Object()
	w.Word("class", "reset")
	writeStream(w, s.View.Catalogue(), t)
	w.Uint("seq", state.Seq)
	w.Raw("state", state.Body)
	w.EndObject()
	return Frame(w.Bytes())
}
