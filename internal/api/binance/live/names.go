package live

import (
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// Names of streams, of those of a market behind SYMBOL@.
const (
	nameTrade      = "trade"
	nameAggTrade   = "aggTrade"
	nameMiniTicker = "miniTicker"
	nameTicker     = "ticker"
	nameBookTicker = "bookTicker"
	nameAverage    = "avgPrice"
	nameKline      = "kline_"
	nameDepth      = "depth"
	fast           = "@100ms"

	nameAllMini    = "!miniTicker@arr"
	nameAllTickers = "!ticker@arr"
	nameAllBook    = "!bookTicker"
)

// plainKinds are the kinds of the streams of a market whose names have no parameter.
var plainKinds = map[string]feed.Kind{
	nameTrade: feed.PairTrades, nameAggTrade: feed.PairAggTrades, nameMiniTicker: feed.PairMiniTicker,
	nameTicker: feed.PairTicker, nameBookTicker: feed.PairBookTicker, nameAverage: feed.PairAverage,
}

// levels are the numbers of levels of partial books, by name.
var levels = map[string]uint8{"5": 5, "10": 10, "20": 20}

// intervals are the words of the resolutions that streams of candles have.
var intervals = [...]string{
	bourse.Resolution1: "1m", bourse.Resolution3: "3m", bourse.Resolution5: "5m", bourse.Resolution15: "15m",
	bourse.Resolution30: "30m", bourse.Resolution60: "1h", bourse.Resolution120: "2h", bourse.Resolution240: "4h",
	bourse.Resolution360: "6h", bourse.Resolution720: "12h", bourse.Resolution1D: "1d", bourse.Resolution1W: "1w",
	bourse.Resolution1M: "1M",
}

// resolution returns the resolution of an interval's word; zero for any other.
func resolution(word string) bourse.Resolution {
	for r := bourse.Resolution1; r <= bourse.LastResolution; r++ {
		if intervals[r] == word {
			return r
		}
	}
	return 0
}

// topic returns the topic of a stream's name.
func (l *Live) topic(name string) (feed.Topic, error) {
	switch name {
	case nameAllMini:
		return feed.Topic{Kind: feed.AllMiniTickers}, nil
	case nameAllTickers:
		return feed.Topic{Kind: feed.AllTickers}, nil
	case nameAllBook:
		return feed.Topic{Kind: feed.AllBookTickers}, nil
	}

	symbol, what, _ := strings.Cut(name, "@")
	t := kindOf(what)
	if t.Kind == 0 {
		return t, binance.Unsupported("There is no stream of this name, or it is not served.")
	}
	upper := strings.ToUpper(symbol)
	m := l.Facade.Market(upper)
	if m == nil || symbol != strings.ToLower(upper) { // also ſ is an S in capitals
		return t, binance.ErrSymbol
	}
	t.Market = m.ID
	return t, nil
}

// kindOf returns the topic of the part of a name behind the symbol, without the market; that of
// an unknown name has no kind.
func kindOf(what string) feed.Topic {
	if kind := plainKinds[what]; kind != 0 {
		return feed.Topic{Kind: kind}
	}
	if word, isKline := strings.CutPrefix(what, nameKline); isKline {
		if r := resolution(word); r != 0 {
			return feed.Topic{Kind: feed.PairCandles, Resolution: r}
		}
		return feed.Topic{}
	}

	number, isDepth := strings.CutPrefix(what, nameDepth)
	number, isFast := strings.CutSuffix(number, fast)
	switch {
	case !isDepth:
		return feed.Topic{}
	case number == "":
		return feed.Topic{Kind: feed.PairDepth, Fast: isFast}
	case levels[number] != 0:
		return feed.Topic{Kind: feed.PairLevels, Levels: levels[number], Fast: isFast}
	}
	return feed.Topic{}
}
