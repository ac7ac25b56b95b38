package binance

import (
	"strings"

	"github.com/bourse-exchange/bourse"
)

// readOrder reads a new order, and the form of its answer.
func (r *Request) readOrder(p *bourse.NewOrder) (m *bourse.Market, resp int) {
	if m = r.market(); m == nil {
		return nil, 0
	}
	r.readLeg(m, "", p)
	usual := "ACK"
	if p.Type == bourse.MarketOrder || p.Type == bourse.Limit && !p.PostOnly {
		usual = "FULL"
	}
	return m, r.readResponse(usual)
}

// readLeg reads an order of a market. Its own parameters begin with a word if it is an order of a
// list, above or below.
func (r *Request) readLeg(m *bourse.Market, word string, p *bourse.NewOrder) {
	r.leg = word
	defer func() { r.leg = "" }()
	p.Market = m.ID
	p.Side = bourse.Side(r.One("side", "", errSide, "BUY", "SELL") + 1)
	r.readKind(p)
	r.readTIF(p)
	r.readPrices(m, p)
	r.readQuantity(m, p)
	r.readSelfTrade(p)
	r.readName(p)
}

// of returns the name of an order's own parameter.
func (r *Request) of(name string) string {
	switch {
	case r.leg == "":
		return name
	case name == newName:
		return r.leg + "ClientOrderId"
	}
	return r.leg + strings.ToUpper(name[:1]) + name[1:]
}

// newName is the parameter with the name of a new order.
const newName = "newClientOrderId"

// readKind reads the type.
func (r *Request) readKind(p *bourse.NewOrder) {
	word := r.Text(r.of("type"))
	for i := range orderKinds {
		if orderKinds[i].word == word {
			p.Type, p.PostOnly = orderKinds[i].of, orderKinds[i].maker
			return
		}
	}
	r.Fail(Errorf(codeType, "Invalid orderType."))
}

// readTIF reads timeInForce, which orders that may rest as takers need.
func (r *Request) readTIF(p *bourse.NewOrder) {
	name := r.of("timeInForce")
	switch {
	case !p.Type.HasPrice():
		p.TIF = bourse.IOC
		r.refuse(name)
		return
	case p.PostOnly:
		p.TIF = bourse.GTC
		if r.Text(name) != bourse.GTC.String() {
			r.refuse(name)
		}
		return
	case !r.Has(name):
		r.Fail(missing(name))
		return
	}
	tif, known := bourse.ParseTimeInForce(r.Text(name))
	if !known {
		r.Fail(Errorf(codeTIF, "Invalid timeInForce."))
	}
	p.TIF = tif
}

// refuse fails if a parameter was sent that the type of the order has no use for.
func (r *Request) refuse(name string) {
	if r.Has(name) {
		r.Fail(Errorf(codeNotRequired, "Parameter '%s' sent when not required.", name))
	}
}

// readPrices reads price and stopPrice.
func (r *Request) readPrices(m *bourse.Market, p *bourse.NewOrder) {
	if p.Type.HasPrice() {
		p.Price = r.readPrice(r.of("price"), m)
	} else {
		r.refuse(r.of("price"))
	}
	if p.Type.HasStop() {
		p.Stop = r.readPrice(r.of("stopPrice"), m)
	} else {
		r.refuse(r.of("stopPrice"))
	}
}

// readPrice reads a price that is required.
func (r *Request) readPrice(name string, m *bourse.Market) bourse.Price {
	text := r.decimal(name, m.QuotePrecision, r.names.Assets[m.Quote].Scale, "PRICE_FILTER")
	if text == "" {
		return 0
	}
	price, err := bourse.ParsePrice(text, m.QuotePrecision)
	if err != nil {
		r.Fail(filter("PRICE_FILTER"))
	}
	return price
}

// readQuantity reads quantity or, for an order at the market, quoteOrderQty.
func (r *Request) readQuantity(m *bourse.Market, p *bourse.NewOrder) {
	const byBase, byQuote = "quantity", "quoteOrderQty"
	switch {
	case p.Type != bourse.MarketOrder:
		r.refuse(byQuote)
	case r.Has(byBase) && r.Has(byQuote):
		r.refuse(byQuote)
	case !r.Has(byBase) && !r.Has(byQuote):
		r.Fail(neither(byBase, byQuote))
	case r.Has(byQuote):
		p.Total = r.readTotal(byQuote, m)
		return
	}

	p.Lots = r.readLots(byBase, m)
}

// readLots reads a quantity that is required.
func (r *Request) readLots(name string, m *bourse.Market) bourse.Lots {
	text := r.decimal(name, m.BasePrecision, r.names.Assets[m.Base].Scale, "LOT_SIZE")
	if text == "" {
		return 0
	}
	lots, err := bourse.ParseLots(text, m.BasePrecision)
	if err != nil {
		r.Fail(filter("LOT_SIZE"))
	}
	return lots
}

// readTotal reads an amount of the quote asset.
func (r *Request) readTotal(name string, m *bourse.Market) bourse.Amount {
	scale := r.names.Assets[m.Quote].Scale
	text := r.decimal(name, scale, scale, "NOTIONAL")
	if text == "" {
		return bourse.Amount{}
	}
	total, err := bourse.ParseAmount(text, scale)
	if err != nil || total.IsZero() {
		r.Fail(filter("NOTIONAL"))
	}
	return total
}

// decimal returns the text of a required decimal, empty after an error. Its decimals beyond
// places fail a filter, and those beyond the ones of its asset are too many altogether.
func (r *Request) decimal(name string, places, scale uint8, of string) string {
	text := r.Text(name)
	switch {
	case r.Err() != nil:
		return ""
	case text == "":
		r.Fail(missing(name))
		return ""
	case !isDecimal(text):
		r.Fail(illegalIn(name, `^([0-9]{1,20})(\.[0-9]{1,20})?$`))
		return ""
	}
	_, fraction, _ := strings.Cut(text, ".")
	switch n := len(strings.TrimRight(fraction, "0")); {
	case n > int(max(scale, decimals)):
		r.Fail(Errorf(codePrecision, "Parameter '%s' has too much precision.", name))
		return ""
	case n > int(places):
		r.Fail(filter(of))
		return ""
	}
	return text
}

// isDecimal reports whether text is digits, with at most one point.
func isDecimal(text string) bool {
	whole, fraction, _ := strings.Cut(text, ".")
	const most = 20
	if len(whole)+len(fraction) == 0 || len(whole) > most || len(fraction) > most {
		return false
	}
	for _, c := range []byte(whole + fraction) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// readSelfTrade reads selfTradePreventionMode.
func (r *Request) readSelfTrade(p *bourse.NewOrder) {
	const name = "selfTradePreventionMode"
	if r.Text(name) == "TRANSFER" {
		r.Fail(Errorf(codeUnsupported, "The mode TRANSFER is not served."))
		return
	}
	at := r.One(name, "", errSelfTrade, selfTradeWords[1:]...)
	p.SelfTrade = bourse.SelfTradeMode(at + 1)
}

// readName reads newClientOrderId.
func (r *Request) readName(p *bourse.NewOrder) {
	name := r.of(newName)
	text := r.Text(name)
	if text == "" {
		return
	}
	id, err := bourse.ParseClientID(text)
	if err != nil {
		r.Fail(illegalIn(name, "^[A-Za-z0-9._:-]{1,36}$"))
	}
	p.ClientID = id
}

// readResponse reads newOrderRespType.
func (r *Request) readResponse(usual string) int {
	return r.One("newOrderRespType", usual, errResponse, "ACK", "RESULT", "FULL")
}
