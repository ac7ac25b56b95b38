package stream

import (
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

// The names of the private streams, and what follows a pair in those of the
// public ones.
const (
	nameMyOrders    = "myOrders"
	nameMyTrades    = "myTrades"
	nameMarketTrade = "marketTrade"
	nameCandleStick = "candleStick/"
	nameTicker      = "ticker"
	nameTickerEx    = "tickerEx"
	nameOrderBook   = "orderBook"
)

// resolutions are the words for the widths of candles.
var resolutions = map[string]bourse.Time{"1": bourse.Minute, "60": bourse.Hour, "1D": bourse.Day}

// topic returns what the name of a stream means for an account, which is zero
// before auth.
func topic(catalogue *view.Catalogue, name string, account bourse.AccountID) (feed.Topic, error) {
	if name == nameMyOrders || name == nameMyTrades {
		if account == 0 {
			return feed.Topic{}, bourse.Errorf(bourse.CodeUnauthorized, "Unauthorized")
		}
		if name == nameMyOrders {
			return feed.Topic{Kind: feed.OwnOrders, Account: account}, nil
		}
		return feed.Topic{Kind: feed.OwnTrades, Account: account}, nil
	}
	pair, kind, _ := strings.Cut(name, "@")
	t := feed.Topic{}
	switch kind {
	case nameMarketTrade:
		t.Kind = feed.Trades
	case nameTicker:
		t.Kind = feed.Ticker
	case nameTickerEx:
		t.Kind = feed.TickerEx
	case nameOrderBook:
		t.Kind = feed.Book
	default:
		res, isCandle := strings.CutPrefix(kind, nameCandleStick)
		if t.Resolution = resolutions[res]; !isCandle || t.Resolution == 0 {
			return feed.Topic{}, bourse.Errorf(bourse.CodeNotFound, "Unknown stream %s", quoted(name))
		}
		t.Kind = feed.Candles
	}
	m := catalogue.Market(bourse.Pair(pair))
	if m == nil {
		return feed.Topic{}, bourse.Errorf(bourse.CodeNotFound, "Unknown pair in %s", quoted(name))
	}
	t.Market = m.ID
	return t, nil
}

// quoted returns a name for an error, cut where it is too long for one.
func quoted(name string) string {
	const most = 128
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return strconv.Quote(name)
}
