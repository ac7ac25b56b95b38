package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// The clients of the pages compute amounts, books, holds and fees themselves. The vectors are
// what this code computes, and the clients' tests compare: web/client/vectors.test.ts.
// REWRITE=1 writes them.
const vectors = "../../../web/client/testdata"

// The numbers of vectors; with the book's messages, 10,000.
const (
	amountVectors = 6000
	orderVectors  = 3000
	bookVectors   = 1000
)

func TestClientVectorsAreCurrent(t *testing.T) {
	for _, file := range []struct {
		name  string
		write func(*testing.T, *bytes.Buffer)
	}{
		{"amounts.txt", writeAmounts},
		{"orders.txt", writeOrders},
		{"book.txt", writeBook},
	} {
		t.Run(file.name, func(t *testing.T) {
			var now bytes.Buffer
			file.write(t, &now)
			name := filepath.Join(vectors, file.name)
			if os.Getenv("REWRITE") != "" {
				if err := os.WriteFile(name, now.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}

			then, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(now.Bytes(), then) {
				t.Errorf("%s is not what REWRITE=1 writes", name)
			}
		})
	}
}

func newDraw(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(21, seed)) }

// drawAmount draws amounts of all lengths alike.
func drawAmount(r *rand.Rand) bourse.Amount {
	a := bourse.Amount{Hi: r.Uint64(), Lo: r.Uint64()}
	for range r.IntN(39) {
		a, _ = a.Div64(10)
	}
	return a
}

// writeAmounts writes the arithmetic of amounts. A result of ! is a refusal.
func writeAmounts(_ *testing.T, out *bytes.Buffer) {
	r := newDraw(1)
	for n := range amountVectors {
		scale := uint8(r.IntN(bourse.MaxScale + 1))
		switch a := drawAmount(r); n % 5 {
		case 0, 1:
			text := drawDecimal(r, a, scale)
			units, err := bourse.ParseAmount(text, scale)
			fmt.Fprintf(out, "parse\t%s\t%d\t%s\n", text, scale, orRefusal(units, err == nil))
		case 2:
			fmt.Fprintf(out, "format\t%s\t%d\t%s\t%s\n",
				a.Format(0), scale, a.Format(scale), a.AppendFixed(nil, scale))
		case 3:
			b, divisor := drawAmount(r), drawAmount(r).Lo|1
			quotient, fits := a.MulDiv(b, divisor)
			fmt.Fprintf(out, "muldiv\t%s\t%s\t%d\t%s\n", a.Format(0), b.Format(0), divisor, orRefusal(quotient, fits))
		case 4:
			rate := bourse.Rate(r.IntN(bourse.RateOne))
			fmt.Fprintf(out, "fee\t%s\t%s\t%s\n", rate.Percent(), a.Format(0), rate.FeeOn(a).Format(0))
		}
	}
}

// drawDecimal writes an amount as people do, and sometimes as nobody should.
func drawDecimal(r *rand.Rand, a bourse.Amount, scale uint8) string {
	text := a.Format(scale)
	switch r.IntN(10) {
	case 0:
		text += strings.Repeat("0", r.IntN(4))
	case 1:
		text = strings.TrimPrefix(text, "0")
	case 2:
		text += "."
	case 3:
		text = a.Format(min(scale+1, bourse.MaxScale))
	case 4:
		at := r.IntN(len(text) + 1)
		text = text[:at] + string("-+ e,x."[r.IntN(7)]) + text[at:]
	case 5:
		text = strings.Repeat("0", r.IntN(40)) + text
	}
	return text
}

func orRefusal(a bourse.Amount, ok bool) string {
	if !ok {
		return "!"
	}
	return a.Format(0)
}

// vectorMarket is an exchange with one market of random terms. Account 1 makes its book.
type vectorMarket struct {
	*traders
	m    *bourse.Market
	last bourse.Price
}

func newVectorMarket(t *testing.T, r *rand.Rand) *vectorMarket {
	t.Helper()
	base, quote := uint8(r.IntN(7)), uint8(r.IntN(7))
	scales := [...]uint8{base + 3 + uint8(r.IntN(6)), base + quote + uint8(r.IntN(6))}
	m := bourse.Market{
		Base: 1, Quote: 2, BasePrecision: base, QuotePrecision: quote, Enabled: true,
		SelfTrade: bourse.SelfTradeNone, InitialPrice: bourse.Price(500 + r.IntN(1000)), MaxPrice: 5000,
		TotalUnit: bourse.Pow10(scales[1] - base - quote), Maker: bourse.Rate(r.IntN(5000)), Taker: bourse.Rate(r.IntN(100_000)),
	}
	m.MinOrder, _ = m.Total(m.InitialPrice, bourse.Lots(200*r.IntN(3)))
	if r.IntN(2) == 0 {
		m.Collar = bourse.Rate(10_000 + r.IntN(400_000))
	}
	if r.IntN(2) == 0 {
		m.Band = bourse.RateOne + bourse.Rate(r.IntN(3_000_000))
	}

	x := &vectorMarket{traders: &traders{t: t, e: engine.New(), at: 20_000 * bourse.Day}, m: &m}
	x.apply(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}})
	for i, scale := range scales {
		x.apply(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: bourse.Symbol("AB"[i : i+1]), Name: "An asset", Scale: scale, Enabled: true,
		}})
	}
	x.apply(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})
	if x.m = x.e.Market(1); x.m == nil {
		t.Fatal("the market was refused")
	}
	x.fund(drawFunds(r, true))
	return x
}

func drawFunds(r *rand.Rand, rich bool) [2]bourse.Amount {
	if rich || r.IntN(8) != 0 {
		return [2]bourse.Amount{{Hi: 1 << 40}, {Hi: 1 << 40}}
	}
	return [2]bourse.Amount{bourse.Units(r.Uint64N(1_000_000)), bourse.Units(r.Uint64N(1_000_000_000))}
}

// fund creates an account with funds of the two assets.
func (x *vectorMarket) fund(funds [2]bourse.Amount) bourse.AccountID {
	x.apply(bourse.Command{Kind: bourse.CommandCreateAccount})
	account := x.ev.Facts[0].Account
	for i, amount := range funds {
		if !amount.IsZero() {
			x.apply(bourse.Command{
				Kind: bourse.CommandCredit, Account: account, AssetID: bourse.AssetID(i + 1), Amount: amount,
			})
		}
	}
	return account
}

// fill gives the book new levels of one order each, none of which cross.
func (x *vectorMarket) fill(r *rand.Rand) {
	x.apply(bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	middle := x.m.InitialPrice
	if x.last != 0 {
		middle = x.last
	}

	for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
		price := int(middle)
		for range r.IntN(6) {
			price += (2*int(side) - 3) * (1 + r.IntN(40)) // down for bids, up for asks
			x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
				Market: 1, Side: side, Type: bourse.Limit, TIF: bourse.GTC,
				Price: bourse.Price(max(price, 1)), Lots: bourse.Lots(1 + r.IntN(1000)),
			}})
		}
	}
}

// drawOrder draws an order near the market's price.
func (x *vectorMarket) drawOrder(r *rand.Rand) bourse.NewOrder {
	near := func() bourse.Price { return bourse.Price(max(1, int(x.m.InitialPrice)-300+r.IntN(600))) }
	p := bourse.NewOrder{
		Market: 1, Side: bourse.Side(1 + r.IntN(2)), Type: bourse.OrderType(1 + r.IntN(int(bourse.LastOrderType))),
		TIF: bourse.TimeInForce(1 + r.IntN(3)),
	}
	if r.IntN(3) != 0 {
		p.Type = bourse.OrderType(1 + r.IntN(2))
	}

	p.PostOnly = p.Type == bourse.Limit && p.TIF == bourse.GTC && r.IntN(4) == 0
	if p.Type.HasPrice() {
		p.Price = near()
	}
	if p.Type.HasStop() {
		p.Stop = near()
	}
	if p.Type.HasPrice() || r.IntN(2) == 0 || p.Type.HasStop() && p.Side == bourse.Sell {
		p.Lots = bourse.Lots(1 + r.IntN(2000))
	} else {
		total, _ := x.m.Total(x.m.InitialPrice, bourse.Lots(1+r.IntN(2000)))
		p.Total = total.Plus(bourse.Units(r.Uint64N(100)))
	}
	return p
}

// writeOrders writes orders, and what the engine does with each.
func writeOrders(t *testing.T, out *bytes.Buffer) {
	r := newDraw(2)
	var x *vectorMarket
	for n := range orderVectors {
		if n%50 == 0 {
			x = newVectorMarket(t, r)
		}
		x.fill(r)
		p := x.drawOrder(r)
		x.writeOrder(out, &p, drawFunds(r, false))
		x.apply(bourse.Command{Kind: bourse.CommandTick})
	}
}

// writeOrder places an order of a new account and writes a line.
func (x *vectorMarket) writeOrder(out *bytes.Buffer, p *bourse.NewOrder, funds [2]bourse.Amount) {
	assets := x.e.Assets()
	fmt.Fprintf(out, "%d %d %d %d %s %d %d %d %d %d %d %d\t", x.m.BasePrecision, x.m.QuotePrecision,
		assets[0].Scale, assets[1].Scale, x.m.MinOrder.Format(0), x.m.MaxPrice, x.m.InitialPrice, x.last,
		x.m.Collar, x.m.Band, x.m.Maker, x.m.Taker)
	fmt.Fprintf(out, "%s %s %s %t %d %d %d %s\t", p.Side, p.Type, p.TIF, p.PostOnly, p.Price, p.Stop, p.Lots,
		p.Total.Format(0))
	held := x.m.Held(p.Side)
	fmt.Fprintf(out, "%s\t", funds[held-1].Format(0))
	for i, l := range x.e.Depth(1, p.Side.Opposite()) {
		fmt.Fprintf(out, "%s%d:%d", " "[:min(i, 1)], l.Price, l.Lots)
	}

	account := x.fund(funds)
	x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: *p})
	out.WriteString("\t" + x.outcome(account, held, p) + "\n")
	x.apply(bourse.Command{Kind: bourse.CommandCancelAll, Account: account})
}

// outcome returns what a new account's order did: hold, lots traded, base, quote, fee, last
// price of its trades, lots that rest or were killed, and its hold afterwards.
func (x *vectorMarket) outcome(account bourse.AccountID, held bourse.AssetID, p *bourse.NewOrder) string {
	if x.ev.Outcome.Reason != 0 {
		return x.ev.Outcome.Reason.String()
	}

	var filled bourse.Lots
	var quote, fee bourse.Amount
	var worst bourse.Price
	for i := range x.ev.Trades {
		tr := &x.ev.Trades[i]
		filled += tr.Lots
		quote, fee, worst = quote.Plus(tr.Total), fee.Plus(tr.Taker.Fee), tr.Price
		x.last = tr.Price
	}

	base, _ := x.m.BaseAmount(filled)
	var rests, killed bourse.Lots
	waits := p.Type.HasStop() && !slices.ContainsFunc(x.ev.List, func(e bourse.Event) bool {
		return e.Kind == bourse.EventOrderTriggered
	})
	switch {
	case waits || p.Lots == 0:
	case x.ev.Outcome.Status == bourse.Open:
		rests = p.Lots - filled
	default:
		killed = p.Lots - filled
	}
	return fmt.Sprintf("%t %s %d %s %s %s %d %d %d %s", waits, x.ev.Balances[0].Held.Format(0), filled,
		base.Format(0), quote.Format(0), fee.Format(0), worst, rests, killed,
		x.e.Balance(account, held).Held.Format(0))
}

// writeBook writes messages of a book as a paced stream sends them, and the book after each:
// a snapshot has no prev, a change has the last amount of each changed level.
func writeBook(t *testing.T, out *bytes.Buffer) {
	r := newDraw(3)
	x := newVectorMarket(t, r)
	for x.m.Band != 0 || !x.m.MinOrder.IsZero() || x.m.QuotePrecision < 2 {
		x = newVectorMarket(t, r)
	}

	seq := uint64(0)
	for n := range bookVectors {
		message, next := x.change(r, seq)
		if seq = next; n%100 == 0 {
			message = fmt.Sprintf(`{"seq":%d,"bids":%s,"asks":%s}`,
				seq, x.rows(x.e.Depth(1, bourse.Buy)), x.rows(x.e.Depth(1, bourse.Sell)))
		}
		fmt.Fprintf(out, "%d %d\t%s", x.m.BasePrecision, x.m.QuotePrecision, message)

		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			var sum bourse.Lots
			levels := x.e.Depth(1, side)
			for _, l := range levels {
				sum += l.Lots
			}
			fmt.Fprintf(out, "\t%d %s %s", len(levels), sum.Format(x.m.BasePrecision), x.rows(levels[:min(3, len(levels))]))
		}
		out.WriteString("\n")
	}
}

// change applies orders, and returns their change of the book and its sequence.
func (x *vectorMarket) change(r *rand.Rand, prev uint64) (message string, seq uint64) {
	changed := map[bourse.Side]map[bourse.Price]bourse.Level{bourse.Buy: {}, bourse.Sell: {}}
	for seq = prev; seq == prev; {
		for range 1 + r.IntN(8) {
			x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
				Market: 1, Side: bourse.Side(1 + r.IntN(2)), Type: bourse.Limit, TIF: bourse.GTC,
				Price: x.m.InitialPrice + bourse.Price(r.IntN(60)), Lots: bourse.Lots(1 + r.IntN(100)),
			}})
			for _, l := range x.ev.Levels {
				changed[l.Side][l.Price], seq = l, l.Seq
			}
		}
	}

	rows := func(side bourse.Side) string {
		levels := slices.SortedFunc(maps.Values(changed[side]), func(a, b bourse.Level) int {
			return cmp.Compare(a.Price, b.Price)
		})
		return x.rows(levels)
	}
	return fmt.Sprintf(`{"prev":%d,"seq":%d,"bids":%s,"asks":%s}`,
		prev, seq, rows(bourse.Buy), rows(bourse.Sell)), seq
}

// rows writes levels as streams do: with all decimals, and an amount of 0 for a level that is gone.
func (x *vectorMarket) rows(levels []bourse.Level) string {
	parts := make([]string, len(levels))
	for i, l := range levels {
		amount := "0"
		if l.Lots != 0 {
			amount = string(bourse.Units(uint64(l.Lots)).AppendFixed(nil, x.m.BasePrecision))
		}
		price := bourse.Units(uint64(l.Price)).AppendFixed(nil, x.m.QuotePrecision)
		parts[i] = fmt.Sprintf(`[%q,%q]`, price, amount)
	}
	return "[" + strings.Join(parts, ",") + "]"
}
