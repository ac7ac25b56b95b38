package binance

import "github.com/bourse-exchange/bourse"

func openListsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/openOrderList", WS: "openOrderLists.status", Security: UserData, Weight: fixed(6),
		Fields: listFields, Answer: (*Facade).openLists,
	}
}

// openLists lists the lists of which an order is open, oldest first. Until one acts both are.
func (f *Facade) openLists(r *Request) error {
	lists := map[bourse.OrderID][]bourse.Order{}
	var ids []bourse.OrderID
	orders := f.openIn(r, nil)
	r.charge(len(orders) / readTogether)
	for i := range orders {
		id := orders[i].List
		if id == 0 {
			continue
		}
		if lists[id] == nil {
			ids = append(ids, id)
		}
		lists[id] = append(lists[id], orders[i])
	}
	r.Out.Array()
	for _, id := range ids {
		list := lists[id]
		r.Out.Object()
		r.writeListHead(id, list[0].Time, list)
		r.Out.EndObject()
	}
	r.Out.EndArray()
	return nil
}
