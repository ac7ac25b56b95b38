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

// resolutions maps words to the widths of candles.
var resolutions = map[string]bourse.Time{"1": bourse.Minute, "60": bourse.Hour, "1D": bourse.Day}

// topic parses the name of a stream. subscriber is zero before auth.
func topic(catalogue *view.Catalogue, name string, subscriber bourse.AccountID) (feed.Topic, error) {
	if name == nameMyOrders || name == nameMyTrades {
		if subscriber == 0 {
			return feed.Topic{}, account.ErrUnauthorized
		}
		if name == nameMyOrders {
			return feed.Topic{Kind: feed.OwnOrders, Account: subscriber}, nil
		}
		return feed.Topic{Kind: feed.OwnTrades, Account: subscriber}, nil
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

// quoted quotes a name for an error message, and shortens a long one.
func quoted(name string) string {
	const most = 128
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return strconv.Quote(name)
}
