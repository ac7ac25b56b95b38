package binance

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// listFields are the fields of a list of orders.
var listFields = []Field{
	{Names: "orderListId contingencyType listStatusType listOrderStatus symbol"},
	{Names: "listClientOrderId", State: Differs, Note: "It is made of the list's id: names of lists are not kept."},
	{Names: "transactionTime", State: Differs, Note: "It is the time of the command or, in queries, that of the list's orders."},
	{Names: "orders.symbol orders.orderId orders.clientOrderId"},
}

// reported returns fields of orders as those of the reports on a list's orders, which have
// traded nothing yet.
func reported(fields []Field) (list []Field) {
	for _, f := range fields {
		var names []string
		for name := range strings.FieldsSeq(f.Names) {
			if !strings.HasPrefix(name, "fills.") {
				names = append(names, "orderReports."+name)
			}
		}
		if len(names) == 0 {
			names = []string{"orderReports.fills"}
		}
		list = append(list, Field{strings.Join(names, " "), f.State, f.Note})
	}
	return list
}

// madeUpList begins the name of a list. Its id follows.
const madeUpList = "list-"

// NameOfList returns the listClientOrderId of a list.
func NameOfList(id bourse.OrderID) string { return madeUpList + strconv.FormatUint(uint64(id), 10) }

// selectList reads orderListId, or the name of a list.
func (r *Request) selectList(byName string) bourse.OrderID {
	const byID = "orderListId"
	id := bourse.OrderID(r.Long(byID, 0))
	name := r.Text(byName)
	switch {
	case r.Err() != nil:
	case id == 0 && name == "":
		r.Fail(neither(byID, byName))
	case id == 0:
		n, err := strconv.ParseUint(strings.TrimPrefix(name, madeUpList), 10, 63)
		if err == nil && strings.HasPrefix(name, madeUpList) {
			id = bourse.OrderID(n)
		}
	case name != "" && name != NameOfList(id):
		id = 0
	}
	return id
}

// listed returns the orders of an account's list, the first one first; none if there is no
// such list. Their ids, and the account's ordinals, follow each other.
func (f *Facade) listed(r *Request, id bourse.OrderID) ([]history.OrderFills, error) {
	if id == 0 || id > math.MaxInt64-bourse.MaxListed {
		return nil, nil
	}
	orders, err := f.History.Orders(r.Context, r.Who.Account, &history.ListQuery{
		Before: uint64(id) + bourse.MaxListed, Limit: bourse.MaxListed,
	})
	orders = slices.DeleteFunc(orders, func(o history.OrderFills) bool { return o.List != id })
	slices.Reverse(orders)
	return orders, err
}

// writeListHead writes the fields of a list with at least one order, whose last change was at a
// time.
func (r *Request) writeListHead(id bourse.OrderID, at bourse.Time, orders []bourse.Order) {
	status, order := "ALL_DONE", "ALL_DONE"
	for i := range orders {
		if orders[i].Status == bourse.Open {
			status, order = "EXEC_STARTED", "EXECUTING"
		}
	}
	m := r.names.Markets[orders[0].Market]
	r.Out.Uint("orderListId", uint64(id))
	r.Out.Word("contingencyType", bourse.OCO.String()) // the only type
	r.Out.Word("listStatusType", status)
	r.Out.Word("listOrderStatus", order)
	r.Out.Word("listClientOrderId", NameOfList(id))
	r.time("transactionTime", at)
	r.symbol(m)
	r.Out.Name("orders")
	r.Out.Array()
	for i := range orders {
		r.Out.Object()
		r.symbol(m)
		r.Out.Uint("orderId", uint64(orders[i].ID))
		r.Out.Word("clientOrderId", NameOf(&orders[i]))
		r.Out.EndObject()
	}
	r.Out.EndArray()
}

// heads returns orders without their fills.
func heads(orders []history.OrderFills) (list []bourse.Order) {
	for i := range orders {
		list = append(list, orders[i].Order.Order)
	}
	return list
}
