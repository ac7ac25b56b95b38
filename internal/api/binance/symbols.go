package binance

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

// SymbolOf returns the name of a market in this interface: its assets without the slash.
func SymbolOf(c *view.Catalogue, m *bourse.Market) string {
	return string(c.Assets[m.Base].Symbol) + string(c.Assets[m.Quote].Symbol)
}

// symbols caches the names of the markets. The zero value is ready to use. Safe for
// concurrent use.
type symbols struct{ current atomic.Pointer[catalogue] }

// catalogue are the names of a catalogue's markets.
type catalogue struct {
	*view.Catalogue
	byName map[string]*bourse.Market
	// names are by market ID; empty for a market whose name an earlier one has.
	names []string
	// listed are the markets with a name that are not hidden, by name.
	listed []*bourse.Market
}

// of returns the names of the view's catalogue.
func (s *symbols) of(v *view.View) *catalogue {
	c := v.Catalogue()
	if n := s.current.Load(); n != nil && n.Catalogue == c {
		return n
	}

	n := &catalogue{Catalogue: c, byName: map[string]*bourse.Market{}, names: make([]string, len(c.Markets))}
	for _, m := range c.Markets[1:] {
		name := SymbolOf(c, m)
		if n.byName[name] == nil {
			n.byName[name], n.names[m.ID] = m, name
		}
	}
	for _, m := range c.Listed() {
		if n.names[m.ID] != "" {
			n.listed = append(n.listed, m)
		}
	}
	slices.SortFunc(n.listed, func(a, b *bourse.Market) int { return cmp.Compare(n.names[a.ID], n.names[b.ID]) })
	s.current.Store(n)
	return n
}
