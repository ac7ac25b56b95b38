package stream

import (
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Names of the private streams, and of the public ones after PAIR@.
const (
	nameMyOrders    = "myOrders"
	nameMyTrades    = "myTrades"
	nameMarketTrade = "marketTrade"
	nameCandleStick = "candleStick/"
	nameTicker      = "ticker"
	nameTickerEx    = "tickerEx"
	nameOrderBook   = "orderBook"
)

// The kinds of their topics.
const (
	kindMyOrders feed.Kind = iota + 1
	kindMyTrades
	kindMarketTrade
	kindCandleStick
	kindTicker
	kindTickerEx
	kindOrderBook
)

var privateKinds = map[string]feed.Kind{nameMyOrders: kindMyOrders, nameMyTrades: kindMyTrades}

// publicKinds lacks the candles, whose names end with a resolution.
var publicKinds = map[string]feed.Kind{
	nameMarketTrade: kindMarketTrade, nameTicker: kindTicker, nameTickerEx: kindTickerEx, nameOrderBook: kindOrderBook,
}

// resolutions maps words to the widths of candles.
var resolutions = map[string]bourse.Time{"1": bourse.Minute, "60": bourse.Hour, "1D": bourse.Day}

// topic parses the name of a stream. subscriber is zero before auth.
func topic(catalogue *view.Catalogue, name string, subscriber bourse.AccountID) (feed.Topic, error) {
	if kind, private := privateKinds[name]; private {
		if subscriber == 0 {
			return feed.Topic{}, account.ErrUnauthorized
		}
		return feed.Topic{Kind: kind, Account: subscriber}, nil
	}

	pair, word, _ := strings.Cut(name, "@")
	t := feed.Topic{Kind: publicKinds[word]}
	if res, isCandle := strings.CutPrefix(word, nameCandleStick); isCandle && resolutions[res] != 0 {
		t.Kind, t.Resolution = kindCandleStick, resolutions[res]
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

// quoted quotes a name for an error message, and shortens a long one.
func quoted(name string) string {
	const most = 128
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return strconv.Quote(name)
}
