package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func openOrdersEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/openOrders", WS: "openOrders.status", Security: UserData,
		Weight: weighed("6 with symbol, 80 without", func(p *Params) int {
			if p.Has("symbol") {
				return 6
			}
			return 80
		}),
		Params: may("symbol"), Fields: orderFields, Answer: (*Facade).openOrders,
	}
}

// copiedTogether bounds the open orders that are copied while trading waits.
const copiedTogether = 256

// openOrders lists an account's open orders, oldest first.
func (f *Facade) openOrders(r *Request) error {
	var m *bourse.Market
	if r.Has("symbol") {
		m = r.market()
	}
	if err := r.Err(); err != nil {
		return err
	}

	orders := f.openIn(r, m)
	r.names = f.symbols.of(f.View) // newer than the orders, so it has their markets
	r.Out.Array()
	for part := range slices.Chunk(orders, readTogether) {
		slices.Reverse(part)
		list, err := f.History.FillsOfOpen(r.Context, r.Who.Account, part)
		if err != nil {
			return err
		}
		r.charge(1)
		r.writeOrders(list)
	}
	r.Out.EndArray()
	return nil
}

// readTogether bounds the orders whose fills are read together.
const readTogether = 50

// writeOrders writes orders, the last one first, and charges for their fills.
func (r *Request) writeOrders(list []history.OrderFills) {
	fills := 0
	for i := len(list) - 1; i >= 0; i-- {
		r.writeOrder(&list[i])
		fills += len(list[i].Fills)
	}
	r.chargeRows(fills)
}

// openIn returns an account's open orders, oldest first; those of one market unless m is nil.
func (f *Facade) openIn(r *Request, m *bourse.Market) (list []bourse.Order) {
	room := make([]bourse.Order, copiedTogether)
	below := ^bourse.OrderID(0)
	for {
		part, _ := f.View.OpenOrdersBelow(r.Who.Account, below, room)
		for i := range part {
			if m == nil || part[i].Market == m.ID {
				list = append(list, part[i])
			}
		}
		if len(part) < len(room) {
			slices.Reverse(list)
			return list
		}
		below = part[len(part)-1].ID
	}
}
