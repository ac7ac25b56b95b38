package spotv1

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/view"
)

var marketsFields = api.Fields{"pair", "quote", "search", "sort", "sort_dir", "offset"}

// row is a market with its ticker.
type row struct {
	*bourse.Market
	base, quote *bourse.Asset
	ticker      view.Ticker
}

// markets lists markets with their prices.
func (s *Spot) markets(c *api.Call) error {
	rows, err := s.selectMarkets(c)
	if err != nil {
		return err
	}

	c.Out.Name("markets")
	c.Out.Array()
	for i := range rows {
		c.Out.Object()
		s.writeMarket(c, &rows[i])
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

func (s *Spot) writeMarket(c *api.Call, r *row) {
	c.Out.Word("pair", string(r.Pair))
	c.Out.Word("base", string(r.base.Symbol))
	c.Out.Word("quote", string(r.quote.Symbol))
	c.Out.Text("icon_url", s.PublicURL+"/icons/"+string(r.base.Symbol)+".svg")
	c.Out.Price("price", r.ticker.Price, r.QuotePrecision)
	c.Out.Name("change")
	c.Out.String(decimal(r.ticker.Change))
	c.Out.Price("previous", r.ticker.Previous, r.QuotePrecision)
}

// selectMarkets returns the requested page of markets.
func (s *Spot) selectMarkets(c *api.Call) ([]row, error) {
	rows := s.filterMarkets(c)
	sortMarkets(c, rows)

	skip := c.Offset()
	if !c.Has("offset") && !c.Has("pair") {
		c.Fail(api.Missing("offset"))
	}

	rows = rows[min(skip, len(rows)):]
	return rows[:min(pageSize, len(rows))], c.Err()
}

// filterMarkets returns the markets that match pair, quote or search, of which one may be
// given, ordered by pair.
func (s *Spot) filterMarkets(c *api.Call) []row {
	given := 0
	for _, name := range [...]string{"pair", "quote", "search"} {
		if c.Has(name) {
			given++
		}
	}

	if given > 1 {
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "Only one of pair, quote and search may be given"))
	}

	if m := c.OptionalPair("pair", s.market); m != nil {
		return s.rows([]*bourse.Market{m})
	}
	quote, search := c.Text("quote"), strings.ToLower(c.Text("search"))
	if c.Err() != nil {
		return nil
	}

	catalogue := s.View.Catalogue()
	var list []*bourse.Market
	for _, m := range catalogue.Listed() {
		base, counter := catalogue.Assets[m.Base], catalogue.Assets[m.Quote]
		if (quote == "" || string(counter.Symbol) == quote) && matches(m, base, counter, search) {
			list = append(list, m)
		}
	}
	return s.rows(list)
}

// matches reports whether a market's pair or names contain a lower-case text.
func matches(m *bourse.Market, base, quote *bourse.Asset, search string) bool {
	for _, s := range [...]string{string(m.Pair), base.Name, quote.Name} {
		if strings.Contains(strings.ToLower(s), search) {
			return true
		}
	}
	return false
}

// rows adds the tickers, all at one moment.
func (s *Spot) rows(markets []*bourse.Market) []row {
	catalogue := s.View.Catalogue()
	rows := make([]row, len(markets))
	tickers := s.View.Tickers(markets)
	for i, m := range markets {
		rows[i] = row{m, catalogue.Assets[m.Base], catalogue.Assets[m.Quote], tickers[i]}
	}
	return rows
}

// sortMarkets sorts rows by the requested key; equal rows stay ordered by pair. Without a
// key the direction is ignored.
func sortMarkets(c *api.Call, rows []row) {
	key, dir := c.Text("sort"), c.Text("sort_dir")
	compare, known := map[string]func(a, b *row) int{
		"":     func(*row, *row) int { return 0 },
		"name": func(a, b *row) int { return cmp.Compare(a.Pair, b.Pair) },
		"price": func(a, b *row) int {
			return compareDecimals(bourse.Units(uint64(a.ticker.Price)), a.QuotePrecision,
				bourse.Units(uint64(b.ticker.Price)), b.QuotePrecision)
		},
		"change": func(a, b *row) int { return cmp.Compare(a.ticker.Change, b.ticker.Change) },
		"volume": func(a, b *row) int {
			return compareDecimals(a.ticker.Value, a.quote.Scale, b.ticker.Value, b.quote.Scale)
		},
	}[key]

	switch {
	case !known || c.Has("sort") && key == "":
		c.Fail(api.Invalid("sort", "must be one of name, price, change and volume"))
	case c.Has("sort") && c.Has("pair"):
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "sort cannot be used with pair"))
	case c.Has("sort") && c.Has("sort_dir") && dir != "asc" && dir != "desc":
		c.Fail(api.Invalid("sort_dir", "must be asc or desc"))
	}
	if c.Err() != nil {
		return
	}

	slices.SortStableFunc(rows, func(a, b row) int {
		if dir == "desc" {
			a, b = b, a
		}
		return compare(&a, &b)
	})
}

// compareDecimals compares a×10^-aScale with b×10^-bScale.
func compareDecimals(a bourse.Amount, aScale uint8, b bourse.Amount, bScale uint8) int {
	if aScale > bScale {
		return -compareDecimals(b, bScale, a, aScale)
	}
	scaled, fits := a.Mul(bourse.Pow10(bScale - aScale))
	if !fits {
		return 1
	}
	return scaled.Cmp(b)
}
