package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// Message is a documented stream or event, and the fields of its messages.
type Message struct {
	Name string
	// Example is the name of a stream of this kind; empty for an event.
	Example string
	// When tells when messages come.
	When  string
	State binance.State
	// Note is a sentence, required unless the state is Served.
	Note   string
	Fields []binance.Field
}

const (
	atOnce   = "at once"
	aSecond  = "every second, if it changed"
	twoWays  = "every second, or every 100 ms with `@100ms`, if it changed"
	newState = "The state comes with the next interval after a subscription, too."
)

// ignored is a field that the reference has for older clients.
var ignored = binance.Field{Names: "M", State: binance.Differs, Note: "It is always true."}

// Streams returns the documented streams of markets.
func Streams() []Message { return append(servedStreams(), unservedStreams()...) }

func servedStreams() []Message {
	return []Message{
		{
			Name: "<symbol>@aggTrade", Example: "btcusdt@aggTrade", When: atOnce, Fields: []binance.Field{
				{Names: "e E s p q f l T m"},
				{Names: "a", State: binance.Differs, Note: "It is the number of the first trade, f, as in aggTrades."}, ignored,
			},
		},
		{
			Name: "<symbol>@trade", Example: "btcusdt@trade", When: atOnce,
			Fields: []binance.Field{{Names: "e E s t p q T m"}, ignored},
		},
		{
			Name: "<symbol>@kline_<interval>", Example: "btcusdt@kline_1m", When: aSecond, State: binance.Differs,
			Note: "The intervals 1s, 8h and 3d are refused: klines has the last two. A candle that ended comes at once.",
			Fields: []binance.Field{
				{Names: "e E s k.t k.T k.s k.i k.o k.c k.h k.l k.v k.n k.x k.q k.V k.Q"},
				{Names: "k.f k.L", State: binance.Differs, Note: "They are -1 without trades."},
				{Names: "k.B", State: binance.Differs, Note: "It is always 0."},
			},
		},
		{
			Name: "<symbol>@miniTicker", Example: "btcusdt@miniTicker", When: aSecond, State: binance.Differs, Note: newState,
			Fields: []binance.Field{{Names: "e E s c o h l v q"}},
		},
		{
			Name: "!miniTicker@arr", Example: "!miniTicker@arr", When: aSecond,
			Fields: []binance.Field{{Names: "e E s c o h l v q"}},
		},
		{
			Name: "<symbol>@ticker", Example: "btcusdt@ticker", When: aSecond, State: binance.Differs, Note: newState,
			Fields: tickerFields(),
		},
		{
			Name: "!ticker@arr", Example: "!ticker@arr", When: aSecond, State: binance.Differs,
			Note: "The reference has it no more; older clients ask for it.", Fields: tickerFields(),
		},
		{
			Name: "<symbol>@bookTicker", Example: "btcusdt@bookTicker", When: atOnce, State: binance.Differs, Note: newState,
			Fields: []binance.Field{{Names: "u s b B a A"}},
		},
		{
			Name: "!bookTicker", Example: "!bookTicker", When: atOnce, Fields: []binance.Field{{Names: "u s b B a A"}},
		},
		{
			Name: "<symbol>@avgPrice", Example: "btcusdt@avgPrice", When: aSecond, State: binance.Differs, Note: newState,
			Fields: []binance.Field{
				{Names: "e E s i w"}, {Names: "T", State: binance.Differs, Note: "It is the exchange's time."},
			},
		},
		{
			Name: "<symbol>@depth<levels>", Example: "btcusdt@depth5", When: twoWays, State: binance.Differs, Note: newState,
			Fields: []binance.Field{{Names: "lastUpdateId bids asks"}},
		},
		{
			Name: "<symbol>@depth", Example: "btcusdt@depth", When: twoWays,
			Fields: []binance.Field{
				{Names: "e E s b a"},
				{Names: "U u", State: binance.Differs, Note: "They count the changes of levels by one, and stay over a restart. More " +
					"than 5,000 changes come as several updates."},
			},
		},
	}
}

// tickerFields returns the fields of a ticker of 24 hours.
func tickerFields() []binance.Field {
	return []binance.Field{
		{Names: "e E s p P w x c Q b B a A o h l v q C n"},
		{Names: "O", State: binance.Differs, Note: "It is a whole minute, as in ticker/24hr."},
		{Names: "F L", State: binance.Differs, Note: "They are -1 without trades."},
	}
}

func unservedStreams() []Message {
	const none = "There is nothing of this kind."
	return []Message{
		{Name: "<symbol>@referencePrice", State: binance.NotServed, Note: none},
		{Name: "<symbol>@blockTrade", State: binance.NotServed, Note: none},
		{Name: "<symbol>@kline_<interval>@+08:00", State: binance.NotServed, Note: "Candles begin at midnight of UTC; klines takes timeZone."},
		{
			Name: "<symbol>@ticker_<window>", State: binance.NotServed,
			Note: "Statistics of other windows are computed for a request: ticker has them.",
		},
		{Name: "!ticker_<window>@arr", State: binance.NotServed, Note: "See <symbol>@ticker_<window>."},
		{Name: "!serverShutdown", State: binance.NotServed, Note: "The connection is closed with 1001."},
	}
}

// Events returns the documented events of user data.
func Events() []Message {
	return []Message{
		{
			Name: "outboundAccountPosition", When: "for each command that changes a balance",
			Fields: []binance.Field{{Names: "e E u B.a B.f B.l"}},
		},
		{
			Name: "balanceUpdate", When: "for each deposit, withdrawal and transfer", Fields: []binance.Field{{Names: "e E a d T"}},
		},
		{
			Name: "executionReport", When: "for each acceptance, rejection, trigger, amendment, trade, prevention and end of an order",
			Fields: []binance.Field{
				{Names: "e E s S o f q p P x X g l z L n N T t w m O Z Y Q V eR"},
				{Names: "c", State: binance.Differs, Note: "It is made of the order's id if the order has no name."},
				{Names: "C", State: binance.Differs, Note: "It is the order's name if the order was canceled or amended: the cancel's own is not kept."},
				{Names: "r", State: binance.Differs, Note: "A reason without a documented word has that of V1."},
				{Names: "i", State: binance.Differs, Note: "It is -1 for an order that was rejected."},
				{Names: "I", State: binance.Differs, Note: "It is the number of the command: the reports of one command share it."},
				{Names: "W", State: binance.Differs, Note: "It is the time of acceptance."},
				{Names: "F", State: binance.Differs, Note: "It is zero: there are no icebergs."},
				{Names: "M", State: binance.Differs, Note: "It is always false."},
				{
					Names: "A", State: binance.Differs,
					Note: "It is what the command left. What a command takes of an order that it lets take is told once.",
				},
				{
					Names: "d D j J v B u U Cs pl pL pY b a k uS gP gOT gOV gp", State: binance.NotServed,
					Note: "They belong to orders that are not served, or are not kept.",
				},
			},
		},
		{
			Name: "eventStreamTerminated", When: "when a subscription ends", Fields: []binance.Field{{Names: "e E"}},
		},
		{
			Name: "listenKeyExpired", When: "when a listen key ends", Fields: []binance.Field{{Names: "e E listenKey"}},
		},
		{
			Name: "listStatus", When: "when a list is accepted, and when none of its orders is open any more",
			Fields: []binance.Field{
				{Names: "e E s g c l L T O.s O.i O.c"},
				{Names: "C", State: binance.Differs, Note: "It is made of the list's id: names of lists are not kept."},
				{Names: "r", State: binance.Differs, Note: "It is always NONE: of a list that is refused the orders alone are told."},
			},
		},
		{Name: "externalLockUpdate", State: binance.NotServed, Note: "Nothing else locks balances."},
		{Name: "serverShutdown", State: binance.NotServed, Note: "The connection is closed with 1001."},
	}
}

// Document returns the tables of docs/binance.md about WebSocket.
func Document() string {
	var b strings.Builder
	b.WriteString("| Stream | Messages come | State | |\n|---|---|---|---|\n")
	documentRows(&b, Streams())
	b.WriteString("\n| Event of user data | It comes | State | |\n|---|---|---|---|\n")
	documentRows(&b, Events())
	b.WriteString("\n| Method of order entry | Security | Weight | State |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		security := "NONE"
		if methods[name].signed {
			security = "signed"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | served |\n", name, security, ownWeight)
	}
	for _, m := range slices.Concat(Streams(), Events()) {
		documentFields(&b, &m)
	}
	return b.String()
}

func documentRows(b *strings.Builder, list []Message) {
	for _, m := range list {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", m.Name, m.When, m.State, m.Note)
	}
}

func documentFields(b *strings.Builder, m *Message) {
	if m.State == binance.NotServed {
		return
	}
	fmt.Fprintf(b, "\n#### %s\n\n| Field | State | |\n|---|---|---|\n", m.Name)
	for _, f := range m.Fields {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.Join(strings.Fields(f.Names), "`, `"), f.State, f.Note)
	}
}
