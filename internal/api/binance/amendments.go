package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func amendmentsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/order/amendments", WS: "order.amendments", Security: UserData, Weight: fixed(4),
		Params: append(need("symbol orderId"), may("fromExecutionId limit")...),
		Fields: []Field{
			{Names: "symbol orderId origQty newQty time"},
			{Names: "executionId", State: Differs, Note: "It rises, and skips numbers."},
			{Names: "origClientOrderId newClientOrderId", State: Differs, Note: "They are equal: an order keeps its name."},
		},
		State: Differs, Note: "It reads the last 20,000 amendments of an order. One of the price alone has equal quantities.",
		Answer: (*Facade).amendments,
	}
}

// amendments lists those of an order, oldest first.
func (f *Facade) amendments(r *Request) error {
	s := r.selectOrder()
	from, limit := r.Long("fromExecutionId", 0), r.Limit(usualLimit, mostLimit)
	if err := r.Err(); err != nil {
		return err
	}
	o, err := f.find(r, &s)
	if err != nil {
		return err
	}

	var list []history.Amendment // newest first
	var before bourse.Seq
	for range mostPages {
		part, err := f.History.Amendments(r.Context, &o.Order.Order, before, mostLimit)
		if err != nil {
			return err
		}
		r.chargeRows(len(part))
		end := slices.IndexFunc(part, func(a history.Amendment) bool { return a.Seq < bourse.Seq(from) })
		if end >= 0 {
			list = append(list, part[:end]...)
			break
		}
		list = append(list, part...)
		if len(part) < mostLimit {
			break
		}
		before = part[len(part)-1].Seq
	}

	slices.Reverse(list)
	r.Out.Array()
	for _, a := range list[:min(len(list), limit)] {
		r.Out.Object()
		r.symbol(s.market)
		r.Out.Uint("orderId", uint64(a.Order))
		r.Out.Uint("executionId", uint64(a.Seq))
		r.Out.Word("origClientOrderId", NameOf(&o.Order.Order))
		r.Out.Word("newClientOrderId", NameOf(&o.Order.Order))
		r.lots("origQty", a.From.Lots, s.market)
		r.lots("newQty", a.To.Lots, s.market)
		r.time("time", a.Time)
		r.Out.EndObject()
	}
	r.Out.EndArray()
	return nil
}
