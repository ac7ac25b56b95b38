package binance

import (
	"errors"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// What package live needs beside the endpoints.

// The errors of requests that package live refuses as well.
var (
	ErrSymbol    = errSymbol
	ErrKey       = errKey
	ErrTimestamp = errTimestamp
	ErrInternal  = errInternal
	ErrTooMany   = errTooMany
	// ErrListenKey is the error for a listen key that is none, has expired or belongs to
	// another key.
	ErrListenKey = Errorf(-1125, "This listenKey does not exist.")
	// ErrUnknownMethod is the error for a method that the interface does not have.
	ErrUnknownMethod = &Error{Code: codeUnsupported, Message: "There is no such method."}
)

// Unsupported returns the error for an endpoint or parameter that is not served, with a sentence.
func Unsupported(message string) *Error { return &Error{Code: codeUnsupported, Message: message} }

// Invalid returns the error for a message that is no request.
func Invalid(message string) *Error { return &Error{Code: codeIllegal, Message: message} }

// Problem returns an error with a code of the streams.
func Problem(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Missing returns the error for a parameter that is absent.
func Missing(name string) *Error { return missing(name) }

// Market returns the market with a name; nil if there is none.
func (f *Facade) Market(name string) *bourse.Market { return f.symbols.of(f.View).byName[name] }

// AmountText returns an amount with all places of its scale, and eight at least.
func AmountText(a bourse.Amount, scale uint8) string { return fixedText(a, scale) }

// ChangeTexts returns the change from one price to another, absolute and in percent.
func ChangeTexts(m *bourse.Market, before, price bourse.Price) (change, percent string) {
	return signedPrice(price, before, m), percentChange(price, before)
}

// WeightedPrice returns the average price of a day, weighted by quantity.
func WeightedPrice(m *bourse.Market, d *view.Day) bourse.Price {
	return averageOf(m, d.Value, d.Volume)
}

// Quantity returns the quantity of an order; for an order by total, the executed quantity.
func Quantity(o *bourse.Order) bourse.Lots { return quantity(o) }

// SelfTradeWord returns the word of an order's mode of self-trade prevention.
func SelfTradeWord(m *bourse.Market, o *bourse.NewOrder) string {
	if o.SelfTrade == 0 {
		return selfTradeWord(m.SelfTrade)
	}
	return selfTradeWord(o.SelfTrade)
}

// Fresh refuses a request whose timestamp is outside its window. A request without a timestamp
// has none: a session's requests need no signature that they could be repeated with.
func (f *Facade) Fresh(r *Request) error {
	if !r.Has(timestamp) {
		return nil
	}
	at, window := r.times()
	if err := r.Err(); err != nil {
		return err
	}
	const ahead = 1000 // milliseconds
	now := int64(f.Now() / millisecond)
	if at > now+ahead || at+window <= now {
		return errTimestamp
	}
	return nil
}

// RetryAfter returns the time after which a refused client may try again; false for an error
// that is not about limits.
func RetryAfter(err error) (time.Duration, bool) {
	var l *late
	if !errors.As(err, &l) {
		return 0, false
	}
	return l.after, true
}

// WriteUsed writes the limits that a request counts against, with the used part of each.
func (f *Facade) WriteUsed(out *wire.Writer, r *Request) {
	out.Name("rateLimits")
	out.Array()
	for i, n := range r.Orders {
		if n > 0 {
			writeUsed(out, &used{"ORDERS", orderWindows[i].interval, orderWindows[i].number, f.limit(i), n})
		}
	}
	writeUsed(out, &used{"REQUEST_WEIGHT", "MINUTE", 1, f.Weight, r.Weight})
	out.EndArray()
}

// used is a limit in an interval, and its used part.
type used struct {
	kind, interval       string
	number, limit, count int
}

func writeUsed(out *wire.Writer, u *used) {
	out.Object()
	out.Word("rateLimitType", u.kind)
	out.Word("interval", u.interval)
	out.Int("intervalNum", int64(u.number))
	out.Int("limit", int64(u.limit))
	out.Int("count", int64(u.count))
	out.EndObject()
}
