package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// The words with which the parameters of a list's orders begin.
const (
	above = "above"
	below = "below"
)

func newListEndpoint() Endpoint {
	params := slices.Concat(need("symbol side quantity aboveType belowType"), []Param{
		{Name: "listClientOrderId", State: Differs, Note: "It is not kept: a list is known by its id, and made once if its orders have names."},
		{Name: "aboveClientOrderId", State: Differs, Note: "No slash. With it a repeat of the list gets the first answer."},
		{Name: "belowClientOrderId", State: Differs, Note: "No slash."},
	}, may("abovePrice aboveStopPrice aboveTimeInForce belowPrice belowStopPrice belowTimeInForce newOrderRespType"), []Param{
		{Name: "selfTradePreventionMode", State: Differs, Note: "NONE, EXPIRE_TAKER, EXPIRE_MAKER, EXPIRE_BOTH and DECREMENT."},
	})
	for _, leg := range [...]string{above, below} {
		params = slices.Concat(params, unserved("Labels are not kept.", leg+"StrategyId "+leg+"StrategyType"),
			unserved("Trailing stops are not served.", leg+"TrailingDelta"),
			unserved("Icebergs are not served.", leg+"IcebergQty"),
			unserved("Pegged prices are not served.", leg+"PegPriceType "+leg+"PegOffsetType "+leg+"PegOffsetValue"))
	}
	return Endpoint{
		Method: "POST", Path: "/api/v3/orderList/oco", WS: "orderList.place.oco", Security: Trade, Weight: fixed(1),
		Class: api.Orders, Repeatable: above + "ClientOrderId", Counts: bourse.MaxListed, Params: params,
		Fields: slices.Concat(listFields, reported(newOrderFields)),
		State:  Differs, Note: "The prices are not compared with the last one: a stop that it has passed fires at the next trade.",
		Answer: (*Facade).newList,
	}
}

// newList places two orders of which at most one acts.
func (f *Facade) newList(r *Request) error {
	m := r.market()
	if m == nil {
		return r.Err()
	}
	list := &bourse.NewList{Type: bourse.OCO, Orders: make([]bourse.NewOrder, bourse.MaxListed)}
	for i, leg := range [...]string{above, below} {
		r.readLeg(m, leg, &list.Orders[i])
	}
	resp := r.readResponse("ACK")
	r.Fail(checkLegs(&list.Orders[0], &list.Orders[1]))
	if err := r.Err(); err != nil {
		return err
	}
	r.charge(len(list.Orders) - 1)

	over, err := f.Turn(f.Limits, r.Who.Account, walker(list))
	if err != nil {
		return err
	}
	defer over()

	result, err := f.Sequencer.Do(r.Context, &bourse.Command{
		Kind: bourse.CommandPlaceList, Account: r.Who.Account, List: list,
	})
	if err != nil {
		return err
	}
	if result.Outcome.Reason != 0 {
		return refused(result.Outcome.Reason)
	}
	return f.writeNewList(r, m, list, &result, resp)
}

// walker returns the order of a list that may walk the book, or the last one.
func walker(list *bourse.NewList) *bourse.NewOrder {
	for i := range list.Orders {
		if p := &list.Orders[i]; p.TIF == bourse.FOK || !p.Type.HasPrice() {
			return p
		}
	}
	return &list.Orders[len(list.Orders)-1]
}

// checkLegs returns the error for types that cannot be those of a list: what takes a profit is
// above for SELL and below for BUY, and the stop is on the other side.
func checkLegs(a, b *bourse.NewOrder) error {
	for _, p := range [...]*bourse.NewOrder{a, b} {
		if p.Type == bourse.MarketOrder || p.Type == bourse.Limit && !p.PostOnly {
			return Errorf(codeLegType, "Order type not supported in OCO.")
		}
	}
	profit, stop := a, b
	codes := [...]Code{codeLimitAbove, codeProfitAbove, codeStopBelow}
	if a.Side == bourse.Buy {
		profit, stop = b, a
		codes = [...]Code{codeLimitBelow, codeProfitBelow, codeStopAbove}
	}
	switch {
	case isStop(profit):
		return Errorf(codes[2], "The stop loss order is on the wrong side of the list.")
	case stop.Type == bourse.Limit:
		return Errorf(codes[0], "The limit order is on the wrong side of the list.")
	case !isStop(stop):
		return Errorf(codes[1], "The take profit order is on the wrong side of the list.")
	case !a.ClientID.IsZero() && a.ClientID == b.ClientID:
		return refused(bourse.DuplicateClientID)
	}
	return nil
}

// isStop reports whether an order is a stop loss.
func isStop(p *bourse.NewOrder) bool { return p.Type.HasStop() && !p.Type.TakesProfit() }

// writeNewList writes the answer to a list that was taken, as its command left it.
func (f *Facade) writeNewList(
	r *Request, m *bourse.Market, list *bourse.NewList, result *sequencer.Result, resp int,
) error {
	id := bourse.OrderID(result.Outcome.ID)
	states := [...]bourse.OrderState{
		{Status: result.Outcome.Status, Filled: result.Outcome.Filled}, result.Outcome.Second,
	}
	orders := make([]bourse.Order, len(list.Orders))
	for i := range orders {
		orders[i] = bourse.Order{
			ID: id + bourse.OrderID(i), NewOrder: list.Orders[i], List: id, Time: result.Time,
			Status: states[i].Status, Filled: states[i].Filled,
		}
	}

	r.Out.Object()
	r.writeListHead(id, result.Time, orders)
	r.Out.Name("orderReports")
	r.Out.Array()
	for i := range orders {
		placed, err := f.placed(r, &orders[i], result.Outcome.Repeated, resp)
		if err != nil {
			return err
		}
		r.writePlaced(m, &placed, resp)
	}
	r.Out.EndArray()
	r.Out.EndObject()
	return nil
}
