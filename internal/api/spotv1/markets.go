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

// selectMarkets returns the page of markets that a request asks for.
func (s *Spot) selectMarkets(c *api.Call) ([]row, error) {
	rows, err := s.filterMarkets(c)
	if err != nil {
		return nil, err
	}
	if err := sortMarkets(c, rows); err != nil {
		return nil, err
	}
	skip, err := c.Offset()
	if err != nil {
		return nil, err
	}
	if !c.Has("offset") && !c.Has("pair") {
		return nil, api.Missing("offset")
	}
	rows = rows[min(skip, len(rows)):]
	return rows[:min(pageSize, len(rows))], nil
}

// filterMarkets returns the markets that one of pair, quote and search leaves,
// by pair.
func (s *Spot) filterMarkets(c *api.Call) ([]row, error) {
	given := 0
	for _, name := range [...]string{"pair", "quote", "search"} {
		if c.Has(name) {
			given++
		}
	}
	if given > 1 {
		return nil, bourse.Errorf(bourse.CodeInvalid, "Only one of pair, quote and search may be given")
	}
	m, err := c.OptionalPair("pair", s.market)
	if err != nil {
		return nil, err
	}
	if m != nil {
		return s.rows([]*bourse.Market{m}), nil
	}
	quote, err := c.Text("quote")
	if err != nil {
		return nil, err
	}
	search, err := c.Text("search")
	if err != nil {
		return nil, err
	}
	search = strings.ToLower(search)
	catalogue := s.View.Catalogue()
	var list []*bourse.Market
	for _, m := range catalogue.Listed() {
		base, counter := catalogue.Assets[m.Base], catalogue.Assets[m.Quote]
		if (quote == "" || string(counter.Symbol) == quote) && matches(m, base, counter, search) {
			list = append(list, m)
		}
	}
	return s.rows(list), nil
}

// matches reports whether a market's pair, symbols or names contain a text in
// lower case.
func matches(m *bourse.Market, base, quote *bourse.Asset, search string) bool {
	for _, s := range [...]string{string(m.Pair), base.Name, quote.Name} {
		if strings.Contains(strings.ToLower(s), search) {
			return true
		}
	}
	return false
}

// rows adds the tickers, all of one moment.
func (s *Spot) rows(markets []*bourse.Market) []row {
	catalogue := s.View.Catalogue()
	rows := make([]row, len(markets))
	tickers := s.View.Tickers(markets)
	for i, m := range markets {
		rows[i] = row{m, catalogue.Assets[m.Base], catalogue.Assets[m.Quote], tickers[i]}
	}
	return rows
}

// sortMarkets orders rows as the request says; equal keys stay by pair.
func sortMarkets(c *api.Call, rows []row) error {
	key, err := c.Text("sort")
	if err != nil {
		return err
	}
	dir, err := c.Text("sort_dir")
	if err != nil {
		return err
	}
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
		return api.Invalid("sort", "must be one of name, price, change and volume")
	case c.Has("sort") && c.Has("pair"):
		return bourse.Errorf(bourse.CodeInvalid, "sort cannot be used with pair")
	case c.Has("sort_dir") && dir != "asc" && dir != "desc":
		return api.Invalid("sort_dir", "must be asc or desc")
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if dir == "desc" {
			a, b = b, a
		}
		return compare(&a, &b)
	})
	return nil
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
