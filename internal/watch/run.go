package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/bourse-exchange/bourse/client"
)

// Options configure a watch.
type Options struct {
	// URL is the exchange's address, such as http://127.0.0.1:8080.
	URL string
	// Pair is the market, such as BTC/USDT.
	Pair string
	// Out shows the market: as a changing page on a terminal, otherwise as lines.
	Out      io.Writer
	Terminal bool
	// Every is the least interval between changes of a page; people read no faster than
	// 100 ms.
	Every time.Duration
}

// Run shows a market until ctx ends, which is no error, or the connection ends.
func Run(ctx context.Context, o Options) error {
	if !plain(o.Pair) {
		return fmt.Errorf("%q is no pair such as BTC/USDT", o.Pair)
	}
	c, err := client.New(o.URL, client.Options{})
	if err != nil {
		return err
	}
	defer c.Close()

	m := &market{pair: o.Pair, url: o.URL, shown: &lines{out: o.Out}}
	if o.Terminal {
		m.shown = &screen{out: o.Out, pair: o.Pair, at: o.URL}
	}
	return ended(ctx, errors.Join(m.follow(ctx, c, o.Every), m.shown.end()))
}

// ended returns nil if ctx has ended, and err otherwise.
func ended(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// plain reports whether a text has only the characters of a pair.
func plain(pair string) bool {
	return pair != "" && strings.Trim(pair, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.-_") == ""
}

// shower shows a market.
type shower interface {
	// traded is called for each trade, changed after each change of the book.
	traded(trade) error
	changed(*book) error
	// due is called at every tick.
	due(*book) error
	// end restores the output.
	end() error
}

// market is the market that is shown.
type market struct {
	pair, url string
	shown     shower
	book      book
	// current is true once the book is complete and trades are live.
	current bool
}

// follow applies events to the market until the connection ends.
func (m *market) follow(ctx context.Context, c *client.Client, every time.Duration) error {
	type received struct {
		client.Event
		err error
	}
	// Events queue while a page is written; the exchange buffers far more.
	events := make(chan received, 256)
	reading := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		<-reading
	}()

	go func() {
		defer close(reading)
		names := []string{client.BookOf(m.pair), client.TradesOf(m.pair)}
		for e, err := range c.Follow(ctx, &client.Stream{Names: names}) {
			select {
			case events <- received{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()

	tick := time.NewTicker(every)
	defer tick.Stop()

	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if m.current {
				err = m.shown.due(&m.book)
			}
		case r := <-events:
			if err = m.ended(r.err); err == nil {
				err = m.take(r.Event)
			}
		}
		if err != nil {
			return err
		}
	}
}

// take applies an event and shows it. The end of the connection is an error.
func (m *market) take(e client.Event) error {
	switch of := e.Message.(type) {
	case *client.Dropped:
		return m.ended(of.Err)
	case *client.Current:
		m.current = true
		return errors.Join(m.shown.changed(&m.book), m.shown.due(&m.book))
	case *client.Reset:
		if of.Book == nil || e.Stream != client.BookOf(m.pair) {
			return nil
		}
		return m.change(e.Seq, func() error { return m.book.load(of.Book) })
	case *client.Level:
		return m.change(e.Seq, func() error { return m.book.set(of.Side, of.Price, of.Amount) })
	case *client.Trade:
		t, err := readTrade(of)
		if err != nil || !m.current {
			return err
		}
		return m.shown.traded(t)
	default:
		return nil
	}
}

// change changes the book, and shows it.
func (m *market) change(seq uint64, change func() error) error {
	m.book.seq = seq
	if err := change(); err != nil || !m.current {
		return err
	}
	return m.shown.changed(&m.book)
}

// ended returns the error for the end of a connection, without control characters; nil for nil.
func (m *market) ended(err error) error {
	var refused *client.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return fmt.Errorf("the exchange answers: %q", refused.Message)
	case m.current:
		return fmt.Errorf("the connection has ended: %s", printable(err.Error()))
	default:
		return fmt.Errorf("no exchange answers at %s: %s", m.url, printable(err.Error()))
	}
}

// printable replaces the characters that are not printed.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
