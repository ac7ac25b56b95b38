package watch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func num(t *testing.T, text string) number {
	t.Helper()
	n, err := parseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBookIsSorted compares a book with a map after each of many changes.
func TestBookIsSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, side := range []string{"BUY", "SELL"} {
		b, naive := new(book), map[int]int{}
		for range 2_000 {
			price, amount := 95+rng.IntN(20), rng.IntN(3)
			if naive[price] = amount; amount == 0 {
				delete(naive, price)
			}
			if err := b.set(side, num(t, fmt.Sprint(price)), num(t, fmt.Sprintf("%d.50", amount)[:1])); err != nil {
				t.Fatal(err)
			}

			var want, got []string
			for p, a := range naive {
				want = append(want, fmt.Sprintf("%03d:%d", p, a))
			}
			slices.Sort(want)
			if side == "BUY" {
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
	const good = `{"class":"data","stream":"BTC/USDT@orderBook","pair":"BTC/USDT","price":"1.50","amount":"2","side":"BUY","seq":7}`
	if m, err := parse([]byte(good)); err != nil || m.price.text != "1.5" || m.Seq != 7 {
		t.Fatalf("%+v %v", m, err)
	}
	for from, to := range map[string]string{
		`"1.50"`: `"\u001b[2J"`, `"2"`: `"2\n"`, `"BUY"`: `"BUY\u001b"`, `7}`: `7`, `"price"`: `"prize"`,
	} {
		if m, err := parse([]byte(strings.Replace(good, from, to, 1))); err == nil {
			t.Errorf("%s is taken: %+v", to, m)
		}
	}
	for _, pair := range []string{"", "\x1b[2J", "BTC USDT", "btc/usdt"} {
		if plain(pair) {
			t.Errorf("%q is a pair", pair)
		}
	}
}

// TestGapIsNoticed wants each change of the book once and in order.
func TestGapIsNoticed(t *testing.T) {
	b, out := &book{seq: 5}, new(bytes.Buffer)
	s := &lines{out: out}
	change := func(seq uint64, price string) error {
		m, err := parse(fmt.Appendf(nil, `{"class":"data","stream":"X@orderBook","price":%q,"amount":"1","side":"SELL","seq":%d}`, price, seq))
		if err != nil {
			t.Fatal(err)
		}
		return take(b, m, s)
	}
	for seq, price := range map[uint64]string{4: "1", 5: "2"} {
		if err := change(seq, price); err != nil || len(b.asks) > 0 {
			t.Fatalf("a change that the book has: %v %v", b.asks, err)
		}
	}
	if err := change(6, "3"); err != nil || len(b.asks) != 1 || out.String() != "book  - | 1 at 3\n" {
		t.Fatalf("%v %v %q", b.asks, err, out)
	}
	if err := change(8, "4"); err == nil || !strings.Contains(err.Error(), "messages 7 to 7") {
		t.Fatalf("a gap: %v", err)
	}
}

// TestPage wants the best levels in the middle, and the newest trade at the top.
func TestPage(t *testing.T) {
	b := &book{seq: 42}
	for i := range 12 {
		for _, side := range []string{"BUY", "SELL"} {
			price := 100 + i
			if side == "BUY" {
				price = 99 - i
			}
			if err := b.set(side, num(t, fmt.Sprintf("%d.5", price)), num(t, fmt.Sprint(i+1))); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := &screen{pair: "BTC/USDT", at: "http://x"}
	for i := range 30 {
		if err := s.traded(trade{int64(i), num(t, "5"), num(t, fmt.Sprint(1000+i)), "SELL"}); err != nil {
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
