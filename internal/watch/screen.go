package watch

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

// depth is the number of levels shown per side, and half the number of trades.
const depth = 10

// The control sequences in use, ECMA-48 and xterm.
const (
	home, clearLine, clearBelow = "\x1b[H", "\x1b[K", "\x1b[J"
	enter, leave                = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
	green, red, usual           = "\x1b[32m", "\x1b[31m", "\x1b[0m"
)

// screen shows a market on the terminal's alternate screen.
type screen struct {
	out      io.Writer
	pair, at string
	// trades are the last ones, newest first.
	trades []trade
	// entered is true once the terminal shows the alternate screen.
	entered bool
	shown   []byte
}

func (s *screen) traded(t trade) error {
	s.trades = append([]trade{t}, s.trades[:min(len(s.trades), 2*depth)]...)
	return nil
}

func (s *screen) changed(*book) error { return nil }

// due writes the page if it has changed.
func (s *screen) due(b *book) error {
	page := s.page(b)
	if bytes.Equal(page, s.shown) {
		return nil
	}
	s.shown = page
	if !s.entered {
		s.entered = true
		page = append([]byte(enter), page...)
	}
	_, err := s.out.Write(page)
	return err
}

func (s *screen) end() error {
	if !s.entered {
		return nil
	}
	_, err := io.WriteString(s.out, leave)
	return err
}

// page draws asks above bids, and trades beside both.
func (s *screen) page(b *book) []byte {
	rows := make([]string, 2*depth+1)
	prices, amounts := s.decimals(b)
	row := func(color string, l level) string {
		return fmt.Sprintf("%s%16s%s %18s",
			color, padded(l.price.text, prices), usual, padded(l.amount.text, amounts))
	}
	for i, l := range b.asks[:min(depth, len(b.asks))] {
		rows[depth-1-i] = row(red, l)
	}
	bids := rows[depth+1:]
	for i, l := range b.bids[:min(depth, len(b.bids))] {
		bids[i] = row(green, l)
	}

	var out bytes.Buffer
	line := func(format string, args ...any) {
		fmt.Fprintf(&out, format+clearLine+"\r\n", args...)
	}
	out.WriteString(home)
	line("%s at %s, change %d   (Ctrl-C ends)", s.pair, s.at, b.seq)
	line("")
	line("%16s %18s      %-8s %16s %18s", "PRICE", "AMOUNT", "TRADES", "PRICE", "AMOUNT")

	for i, left := range rows {
		if left == "" {
			left = strings.Repeat(" ", 16+1+18)
		}
		if i >= len(s.trades) {
			line("%s", left)
			continue
		}
		t := s.trades[i]
		color := green
		if t.side == client.Sell {
			color = red
		}
		line("%s      %s %s%16s%s %18s",
			left, clock(t.time), color, padded(t.price.text, prices), usual, padded(t.amount.text, amounts))
	}

	out.WriteString(clearBelow)
	return out.Bytes()
}

// decimals returns the number of decimals of a page's prices and amounts.
func (s *screen) decimals(b *book) (prices, amounts int) {
	widen := func(price, amount number) {
		prices, amounts = max(prices, decimals(price.text)), max(amounts, decimals(amount.text))
	}
	for _, side := range [][]level{b.bids, b.asks} {
		for _, l := range side[:min(len(side), depth)] {
			widen(l.price, l.amount)
		}
	}
	for _, t := range s.trades {
		widen(t.price, t.amount)
	}
	return prices, amounts
}

// decimals returns the number of digits after a number's point.
func decimals(text string) int {
	_, after, _ := strings.Cut(text, ".")
	return len(after)
}

// padded returns a number with at least that many decimals.
func padded(text string, least int) string {
	missing := least - decimals(text)
	if missing <= 0 {
		return text
	}
	if !strings.Contains(text, ".") {
		text += "."
	}
	return text + strings.Repeat("0", missing)
}

func clock(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.TimeOnly) }

// lines shows a market as lines: each trade, and the best levels when they change.
type lines struct {
	out io.Writer
	// best is the last line about the best levels.
	best string
}

func (l *lines) traded(t trade) error {
	_, err := fmt.Fprintf(l.out, "trade %s %s %s at %s\n",
		time.Unix(t.time, 0).UTC().Format(time.RFC3339), t.side, t.amount.text, t.price.text)
	return err
}

func (l *lines) changed(b *book) error {
	line := "book  " + best(b.bids) + " | " + best(b.asks) + "\n"
	if line == l.best {
		return nil
	}
	l.best = line
	_, err := io.WriteString(l.out, line)
	return err
}

// best formats the best level of a side.
func best(side []level) string {
	if len(side) == 0 {
		return "-"
	}
	return side[0].amount.text + " at " + side[0].price.text
}

func (*lines) due(*book) error { return nil }

func (*lines) end() error { return nil }
