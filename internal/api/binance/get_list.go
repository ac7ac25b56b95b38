package binance

func getListEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/orderList", WS: "orderList.status", Security: UserData, Weight: fixed(4),
		Params: may("orderListId origClientOrderId"), Fields: listFields, Answer: (*Facade).getList,
	}
}

// getList writes one list.
func (f *Facade) getList(r *Request) error {
	id := r.selectList("origClientOrderId")
	if err := r.Err(); err != nil {
		return err
	}
	orders, err := f.listed(r, id)
	if err != nil {
		return err
	}
	if len(orders) == 0 {
		return errNoList
	}
	at := orders[0].Time
	for i := range orders {
		at = max(at, updated(&orders[i]))
	}
	r.Out.Object()
	r.writeListHead(id, at, heads(orders))
	r.Out.EndObject()
	return nil
}
