package watch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

func num(t *testing.T, text string) number {
	t.Helper()
	n, err := parseNumber(client.Decimal(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBookIsSorted compares a book with a map after each of many changes.
func TestBookIsSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, side := range []client.Side{client.Buy, client.Sell} {
		b, naive := new(book), map[int]int{}
		for range 2_000 {
			price, amount := 95+rng.IntN(20), rng.IntN(3)
			if naive[price] = amount; amount == 0 {
				delete(naive, price)
			}
			if err := b.set(side, client.Decimal(fmt.Sprint(price)), client.Decimal(fmt.Sprintf("%d.50", amount)[:1])); err != nil {
				t.Fatal(err)
			}

			var want, got []string
			for p, a := range naive {
				want = append(want, fmt.Sprintf("%03d:%d", p, a))
			}
			slices.Sort(want)
			if side == client.Buy {
				slices.Reverse(want)
			}
			for _, l := range slices.Concat(b.bids, b.asks) {
				got = append(got, fmt.Sprintf("%03s:%s", l.price.text, l.amount.text))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", side, got, want)
			}
		}
	}
}

// TestNothingButNumbers wants nothing on the terminal but numbers and known words.
func TestNothingButNumbers(t *testing.T) {
	const bad = "\x1b[2J"
	for name, m := range map[string]client.Message{
		"price":           &client.Level{Side: client.Buy, Price: bad, Amount: "2"},
		"amount":          &client.Level{Side: client.Buy, Price: "1.50", Amount: "2\n"},
		"no price":        &client.Level{Side: client.Buy, Amount: "2"},
		"side":            &client.Level{Side: bad, Price: "1.50", Amount: "2"},
		"bid":             &client.Reset{Book: &client.OrderBook{Bids: []client.Row{{Price: "1", Amount: bad}}}},
		"price of trade":  &client.Trade{Side: client.Buy, Price: bad, Amount: "2"},
		"amount of trade": &client.Trade{Side: client.Buy, Price: "1.50", Amount: bad},
		"side of trade":   &client.Trade{Side: bad, Price: "1.50", Amount: "2"},
		"reason":          &client.Dropped{Err: &client.ClosedError{Code: 1008, Reason: bad}},
		"refusal":         &client.Dropped{Err: &client.Error{Message: bad}},
	} {
		for _, current := range []bool{false, true} {
			out := new(bytes.Buffer)
			w := &market{pair: "X", shown: &lines{out: out}, current: current}
			err := w.take(client.Event{Stream: client.BookOf("X"), Message: m})
			if err == nil || strings.ContainsAny(err.Error()+out.String(), "\x1b\n") {
				t.Errorf("%s: %q, and the error %q", name, out, err)
			}
		}
	}
	for _, pair := range []string{"", "\x1b[2J", "BTC USDT", "btc/usdt"} {
		if plain(pair) {
			t.Errorf("%q is a pair", pair)
		}
	}
}

// TestBookIsShownWhole wants nothing of the book before it is complete, then each change.
func TestBookIsShownWhole(t *testing.T) {
	out := new(bytes.Buffer)
	m := &market{pair: "X", shown: &lines{out: out}}
	for _, message := range []client.Message{
		&client.Trade{Side: client.Buy, Price: "9", Amount: "9"},
		&client.Reset{Book: &client.OrderBook{Asks: []client.Row{{Price: "4.0", Amount: "1"}}}},
		&client.Level{Side: client.Sell, Price: "3", Amount: "2.50"},
		new(client.Current),
		&client.Level{Side: client.Buy, Price: "2", Amount: "1"},
		&client.Trade{Side: client.Sell, Price: "2", Amount: "1"},
		&client.Level{Side: client.Buy, Price: "2", Amount: "0"},
	} {
		if err := m.take(client.Event{Stream: client.BookOf("X"), Seq: m.book.seq + 1, Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	const want = "book  - | 2.5 at 3\nbook  1 at 2 | 2.5 at 3\ntrade 0001-01-01T00:00:00Z SELL 1 at 2\nbook  - | 2.5 at 3\n"
	if out.String() != want {
		t.Errorf("shown was %q", out)
	}
	if err := m.take(client.Event{Message: &client.Dropped{Err: errors.New("reset by peer")}}); err == nil {
		t.Error("it goes on without a connection")
	}
}

// TestPage wants the best levels in the middle, and the newest trade at the top.
func TestPage(t *testing.T) {
	b := &book{seq: 42}
	for i := range 12 {
		for _, side := range []client.Side{client.Buy, client.Sell} {
			price := 100 + i
			if side == client.Buy {
				price = 99 - i
			}
			if err := b.set(side, client.Decimal(fmt.Sprintf("%d.5", price)), client.Decimal(fmt.Sprint(i+1))); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := &screen{pair: "BTC/USDT", at: "http://x"}
	for i := range 30 {
		if err := s.traded(trade{int64(i), num(t, "5"), num(t, fmt.Sprint(1000+i)), client.Sell}); err != nil {
			t.Fatal(err)
		}
	}
	text := string(s.page(b))
	for _, command := range []string{home, clearLine, clearBelow, green, red, usual, "\r"} {
		text = strings.ReplaceAll(text, command, "")
	}
	rows := strings.Split(text, "\n")
	if len(rows) != 3+2*depth+1+1 || strings.ContainsRune(text, '\x1b') {
		t.Fatalf("%d lines\n%s", len(rows), text)
	}
	for at, want := range map[int]string{
		0: "BTC/USDT at http://x, change 42", 3: "109.5 10 00:00:29 5.0 1029", 12: "100.5 1 00:00:20", 13: "00:00:19 5.0 1019", 14: "99.5 1 00:00:18", 23: "90.5 10 00:00:09",
	} {
		if got := strings.Join(strings.Fields(rows[at]), " "); !strings.HasPrefix(got, want) {
			t.Errorf("line %d is %q, want %q", at, got, want)
		}
	}
	if len(s.trades) > 2*depth+1 {
		t.Errorf("%d trades are kept", len(s.trades))
	}
}
