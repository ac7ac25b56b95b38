package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
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
	c, err := dial(ctx, o.URL, o.Pair)
	if err != nil {
		return ended(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.close() })
	defer func() {
		stop()
		_ = c.close() // nothing is pending
	}()

	if err := c.subscribe(); err != nil {
		return ended(ctx, err)
	}
	b, err := c.load(ctx)
	if err != nil {
		return ended(ctx, err)
	}

	var shown shower = &lines{out: o.Out}
	if o.Terminal {
		shown = &screen{out: o.Out, pair: o.Pair, at: o.URL}
	}
	return ended(ctx, errors.Join(follow(ctx, c, b, shown, o.Every), shown.end()))
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

// follow applies messages to the book until the connection ends.
func follow(ctx context.Context, c *client, b *book, s shower, every time.Duration) error {
	type received struct {
		*message
		err error
	}
	// Messages queue while a page is written; the exchange buffers far more.
	messages := make(chan received, 256)
	reading := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		_ = c.close()
		<-reading
	}()

	go func() {
		defer close(reading)
		for {
			m, err := c.next()
			select {
			case messages <- received{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()

	if err := errors.Join(s.changed(b), s.due(b)); err != nil {
		return err
	}

	tick := time.NewTicker(every)
	defer tick.Stop()

	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			err = s.due(b)
		case r := <-messages:
			if r.err != nil {
				return fmt.Errorf("the connection has ended: %w", r.err)
			}
			err = take(b, r.message, s)
		}
		if err != nil {
			return err
		}
	}
}

// take applies a message to the book and shows it.
func take(b *book, m *message, s shower) error {
	switch {
	case strings.HasSuffix(m.Stream, "@marketTrade"):
		return s.traded(trade{m.Time, m.price, m.amount, m.Side})
	case !strings.HasSuffix(m.Stream, "@orderBook") || m.Seq <= b.seq:
		return nil
	case m.Seq != b.seq+1:
		return fmt.Errorf("messages %d to %d of the book are missing", b.seq+1, m.Seq-1)
	}
	b.seq = m.Seq
	if err := b.set(m.Side, m.price, m.amount); err != nil {
		return err
	}
	return s.changed(b)
}
