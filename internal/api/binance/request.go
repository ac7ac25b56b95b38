package binance

import (
	"context"
	"net/netip"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Request is one request to an endpoint, whatever carried it.
type Request struct {
	*Params
	// Context bounds the time of the answer.
	Context context.Context //nolint:containedctx // it lives as long as the request
	// Who identifies the caller. Account is zero for a request that needs no key.
	Who account.Identity
	// From is the client's address.
	From netip.Addr
	// Micro is set if times in answers are in microseconds.
	Micro bool
	// Out takes the answer.
	Out *wire.Writer

	facade *Facade
	// leg is the word with which the parameters of an order of a list begin, while it is read.
	leg string
	// names are the markets' names, the same ones throughout the request.
	names *catalogue
	// Weight is the weight that the request's source has used in its minute, this request
	// included.
	Weight int
	// Orders are the orders that the account has placed, this one included, in the windows of
	// orderWindows; zero unless the request placed one.
	Orders [len(orderWindows)]int
	class  api.Class
	// Pending is set while earlier requests of the connection have no outcome. One that finds no
	// order then is refused, and carried out again when they have.
	Pending bool
}

// payer returns the account or source that pays for the request.
func (r *Request) payer() api.Payer { return api.Payer{Account: r.Who.Account, Source: r.From} }

// charge counts work beyond that of a usual request, such as rows read.
func (r *Request) charge(tokens int) { r.facade.Limits.Charge(r.class, r.payer(), tokens) }

// chargeRows counts rows beyond those of a usual page.
func (r *Request) chargeRows(n int) {
	const together = 1000
	if more := n / together; more > 0 {
		r.charge(more)
	}
}

// market returns the market that the parameter symbol names, or nil after an error.
func (r *Request) market() *bourse.Market {
	name := r.Text("symbol")
	if r.Err() != nil {
		return nil
	}
	m := r.names.byName[name]
	if m == nil {
		r.Fail(errSymbol)
	}
	return m
}

// symbol writes the name of a market.
func (r *Request) symbol(m *bourse.Market) { r.Out.Word("symbol", r.names.names[m.ID]) }

// millisecond is the unit of times.
const millisecond = bourse.Second / 1000

// unit returns a time as a number in the unit of the request.
func (r *Request) unit(t bourse.Time) int64 {
	if r.Micro {
		return int64(t)
	}
	return int64(t / millisecond)
}

// time writes a time as a number.
func (r *Request) time(name string, t bourse.Time) { r.Out.Int(name, r.unit(t)) }

// now returns the engine's time.
func (r *Request) now() bourse.Time { return r.facade.View.Now() }

// decimals are the places of an asset's amounts in this interface.
const decimals = 8

// amount writes an amount of an asset with at least eight places.
func (r *Request) amount(name string, a bourse.Amount, scale uint8) {
	r.Out.Word(name, fixedText(a, scale))
}

// price writes a price with the places of its market.
func (r *Request) price(name string, p bourse.Price, m *bourse.Market) {
	r.Out.Fixed(name, uint64(p), m.QuotePrecision)
}

// lots writes a quantity with the places of its market.
func (r *Request) lots(name string, n bourse.Lots, m *bourse.Market) {
	r.Out.Fixed(name, uint64(n), m.BasePrecision)
}

// quote writes an amount of a market's quote asset.
func (r *Request) quote(name string, a bourse.Amount, m *bourse.Market) {
	r.amount(name, a, r.names.Assets[m.Quote].Scale)
}

// fixedText returns an amount with all places of its scale, and eight at least.
func fixedText(a bourse.Amount, scale uint8) string {
	if wide, fits := a.Mul(bourse.Pow10(decimals - min(scale, decimals))); fits {
		return string(wide.AppendFixed(nil, max(scale, decimals)))
	}
	return string(a.AppendFixed(nil, scale))
}

func priceText(p bourse.Price, m *bourse.Market) string {
	return string(bourse.Units(uint64(p)).AppendFixed(nil, m.QuotePrecision))
}

func lotsText(n bourse.Lots, m *bourse.Market) string {
	return string(bourse.Units(uint64(n)).AppendFixed(nil, m.BasePrecision))
}
