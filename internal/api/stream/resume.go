package stream

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

const (
	// maxMissed bounds the messages of a stream that are read from the history. A client
	// that missed more gets the state.
	maxMissed = 1000
	// resumeFor bounds the work on one stream, and the time for its client to take the
	// state of the stream before.
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

// resume subscribes to a stream behind a message that the client has: it sends what the
// client missed, or else the present state, before what is live. An error closes the
// connection.
func (c *conn) resume(t feed.Topic, since uint64) error {
	ctx, cancel := context.WithTimeout(context.Background(), resumeFor)
	defer cancel()
	if !c.subscriber.Await(ctx) {
		c.endSlow()
		return errAnswered
	}

	size, known := c.server.Feed.Resume(c.subscriber, t, since)
	if !known {
		m, err := c.server.missed(ctx, t, since)
		if err != nil {
			return c.cannotResume(err)
		}
		for _, b := range m.messages {
			size += len(b)
		}
		c.server.Feed.Release(c.subscriber, t, m.upTo, m.messages)
	}
	c.server.Limits.ChargeAnswer(api.Reads, c.payer(), size)
	return nil
}

// cannotResume closes the connection: its client gets neither a gap nor a wait without
// end.
func (c *conn) cannotResume(err error) error {
	if known := (*bourse.Error)(nil); !errors.As(err, &known) {
		c.server.Log.Error("resuming a stream failed", slog.Any("error", err))
	}
	c.end(closeTryAgain, "the history is behind, try again later", true)
	return errAnswered
}

// closeTryAgain is the close code of RFC 6455's registry for a temporary condition.
const closeTryAgain ws.StatusCode = 1013

// missed are the messages that lead a client from where it was up to a number.
type missed struct {
	upTo     uint64
	messages [][]byte
}

// missed collects what a client that has since missed of a topic that is not in the feed's
// memory.
func (s *Server) missed(ctx context.Context, t feed.Topic, since uint64) (missed, error) {
	if !t.Kind.Counted() {
		return s.present(t), nil
	}

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

	state, err := s.State(ctx, t)
	if err != nil {
		return missed{}, err
	}
	return missed{state.Seq, [][]byte{s.reset(t, &state)}}, nil
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
	case feed.Candles:
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
	w := wire.NewWriter(make([]byte, headerRoom, 512))
	beginData(w, c, t)
	body(w)
	w.Uint("seq", seq)
	w.EndObject()
	m.messages = append(m.messages, frame(w.Bytes()))
}

// reset returns the message that replaces what a client knows of a stream.
func (s *Server) reset(t feed.Topic, state *State) []byte {
	w := wire.NewWriter(make([]byte, headerRoom, 256+len(state.Body)))
	w.Object()
	w.Word("class", "reset")
	writeStream(w, s.View.Catalogue(), t)
	w.Uint("seq", state.Seq)
	w.Raw("state", state.Body)
	w.EndObject()
	return frame(w.Bytes())
}
