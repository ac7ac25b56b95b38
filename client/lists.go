package client

import "context"

// ListType is the type of a list of orders.
type ListType string

// OCO is the type of a list of which one order cancels the other.
const OCO ListType = "OCO"

// ListStatus is the status of a list.
type ListStatus string

// The statuses of lists.
const (
	// ListOpen means that one of its orders is open.
	ListOpen ListStatus = "OPEN"
	ListDone ListStatus = "DONE"
)

// PlacedList is a list as the answer to its request tells it.
type PlacedList struct {
	ListID uint64   `json:"list_id"`
	Type   ListType `json:"type"`
	// Orders are in the order of the request. The first one has the id of the list.
	Orders []Placed `json:"orders"`
}

// PlaceOCO sends two orders of which at most one will trade, once: both are accepted or neither.
// They have one pair and one side; each has a stop or is a LIMIT with GTC, and one at least has a
// stop. The first that trades or is triggered kills the other one. After ErrOutcomeUnknown the
// list may exist; if an order has a ClientID, the same request again tells.
func (c *Client) PlaceOCO(ctx context.Context, first, second *NewOrder) (PlacedList, error) {
	return change[PlacedList](ctx, c, "/spot/order_lists/new", fields{
		"type": OCO, "orders": []fields{first.fields(), second.fields()},
	})
}

// PlaceOCOOnce places a list exactly once, as [Client.PlaceOnce] places an order. It gives the
// first order a ClientID if it has none.
func (c *Client) PlaceOCOOnce(ctx context.Context, first, second *NewOrder) (PlacedList, error) {
	first.ClientID = nameOf(first.ClientID)
	return once(ctx, func() (PlacedList, error) { return c.PlaceOCO(ctx, first, second) })
}

// List is a list of orders, as it stands.
type List struct {
	ListID uint64     `json:"list_id"`
	Type   ListType   `json:"type"`
	Status ListStatus `json:"status"`
	Orders []Order    `json:"orders"`
}

// List returns a list of the account. One that is unknown is ErrListNotFound.
func (c *Client) List(ctx context.Context, listID uint64) (List, error) {
	return read[List](ctx, c, "/spot/order_lists", fields{"list_id": listID})
}

// CancelList cancels the open orders of a list. If there is none, that is ErrListNotFound.
func (c *Client) CancelList(ctx context.Context, listID uint64) error {
	_, err := change[nothing](ctx, c, "/spot/order_lists/cancel", fields{"list_id": listID})
	return err
}
