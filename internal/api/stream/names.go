package stream

import (
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Names of the private streams, and of the public ones after PAIR@.
const (
	nameMyOrders    = "myOrders"
	nameMyTrades    = "myTrades"
	nameMyBalances  = "myBalances"
	nameMyTransfers = "myTransfers"
	nameMarketTrade = "marketTrade"
	nameCandleStick = "candleStick/"
	nameTicker      = "ticker"
	nameTickerEx    = "tickerEx"
	nameOrderBook   = "orderBook"
	nameBook        = "book"
	nameTape        = "tape"
	nameCandle      = "candle/"
	nameTickers     = "tickers"
)

var privateKinds = map[string]feed.Kind{
	nameMyOrders: feed.OwnOrders, nameMyTrades: feed.OwnTrades,
	nameMyBalances: feed.OwnBalances, nameMyTransfers: feed.OwnTransfers,
}

// candleKinds are the kinds of the streams whose names end with a resolution.
var candleKinds = map[string]feed.Kind{nameCandleStick: feed.Candles, nameCandle: feed.PacedCandles}

// publicKinds lacks those of candleKinds, and the stream of all markets.
var publicKinds = map[string]feed.Kind{
	nameMarketTrade: feed.Trades, nameTicker: feed.Ticker, nameTickerEx: feed.TickerEx, nameOrderBook: feed.Book,
	nameBook: feed.PacedBook, nameTape: feed.PacedTape,
}

// errBeforeAuth is the error for a private stream before auth.
var errBeforeAuth = api.Errorf(codes.Unauthorized, "Unauthorized")

// topic parses the name of a stream. subscriber is zero before auth.
func topic(catalogue *view.Catalogue, name string, subscriber bourse.AccountID) (feed.Topic, error) {
	if kind, private := privateKinds[name]; private {
		if subscriber == 0 {
			return feed.Topic{}, errBeforeAuth
		}
		return feed.Topic{Kind: kind, Account: subscriber}, nil
	}

	if name == nameTickers {
		return feed.Topic{Kind: feed.PacedTickers}, nil
	}

	pair, word, _ := strings.Cut(name, "@")
	t := feed.Topic{Kind: publicKinds[word]}
	if kind, res, _ := strings.Cut(word, "/"); candleKinds[kind+"/"] != 0 {
		if r, known := bourse.ParseResolution(res); known {
			t.Kind, t.Resolution = candleKinds[kind+"/"], r
		}
	}
	if t.Kind == 0 {
		return feed.Topic{}, bourse.Errorf(bourse.CodeNotFound, "Unknown stream %s", quoted(name))
	}

	m := catalogue.Market(bourse.Pair(pair))
	if m == nil {
		return feed.Topic{}, bourse.Errorf(bourse.CodeNotFound, "Unknown pair in %s", quoted(name))
	}
	t.Market = m.ID
	return t, nil
}

// writeStream writes the name of a topic's stream.
func writeStream(w *wire.Writer, c *view.Catalogue, t feed.Topic) {
	w.Word("stream", nameOf(c, t))
}

// nameOf returns the name of a topic's stream.
func nameOf(c *view.Catalogue, t feed.Topic) string {
	if t.Market == 0 {
		return kindName(t)
	}
	return string(c.Markets[t.Market].Pair) + "@" + kindName(t)
}

// kindName returns the name of a topic's stream, without the pair.
func kindName(t feed.Topic) string {
	switch t.Kind {
	case feed.OwnOrders:
		return nameMyOrders
	case feed.OwnTrades:
		return nameMyTrades
	case feed.OwnBalances:
		return nameMyBalances
	case feed.OwnTransfers:
		return nameMyTransfers
	case feed.Trades:
		return nameMarketTrade
	case feed.Ticker:
		return nameTicker
	case feed.TickerEx:
		return nameTickerEx
	case feed.Book:
		return nameOrderBook
	case feed.Candles:
		return nameCandleStick + t.Resolution.String()
	case feed.PacedBook:
		return nameBook
	case feed.PacedTape:
		return nameTape
	case feed.PacedCandles:
		return nameCandle + t.Resolution.String()
	case feed.PacedTickers:
		return nameTickers
	default:
		bourse.Impossible("topic of kind %d", t.Kind)
		return ""
	}
}

// quoted quotes a name for an error message, and shortens a long one.
func quoted(name string) string {
	const most = 128
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return strconv.Quote(name)
}
