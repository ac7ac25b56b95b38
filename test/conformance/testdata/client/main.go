// Command client places an order and requests a withdrawal with clients generated from
// the descriptions.
//
// It is a module of its own; a test builds it with the generated packages beside it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	_ "client/account"
	"client/spot"
	_ "client/wallet"
	"client/wallet2"
)

// task is the client's input.
type task struct {
	URL, Key, Pair, Asset, Network, Address string
}

func main() {
	var t task
	err := json.Unmarshal([]byte(os.Args[1]), &t)
	if err == nil {
		err = t.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (t *task) run(ctx context.Context) error {
	order, err := t.placeOrder(ctx)
	if err != nil {
		return err
	}
	withdrawal, err := t.withdraw(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%d %d\n", order, withdrawal)
	return err
}

func (t *task) placeOrder(ctx context.Context) (int, error) {
	c, err := spot.NewClientWithResponses(t.URL + "/spot")
	if err != nil {
		return 0, err
	}
	price, amount, answered := "1", "2", spot.OrderToPlaceRespType("ACK")
	res, err := c.NewOrderWithResponse(ctx, spot.OrderToPlace{
		ApiKey: &t.Key, Pair: t.Pair, Side: "BUY", Type: "LIMIT", TimeInForce: "GTC", Price: &price, Amount: &amount,
		RespType: &answered,
	})
	if err != nil {
		return 0, err
	}
	if res.JSON200 == nil {
		return 0, fmt.Errorf("order: %s: %s", res.Status(), res.Body)
	}
	answer, err := res.JSON200.AsNewOrderAnswer()
	if err != nil {
		return 0, err
	}
	if answer.Obid == nil {
		return 0, fmt.Errorf("order: %s", res.Body)
	}
	return *answer.Obid, nil
}

func (t *task) withdraw(ctx context.Context) (int, error) {
	bearer := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+t.Key)
		return nil
	}
	c, err := wallet2.NewClientWithResponses(t.URL+"/wallet/v2", wallet2.WithRequestEditorFn(bearer))
	if err != nil {
		return 0, err
	}
	res, err := c.NewTransactionWithResponse(ctx, wallet2.NewTransactionJSONRequestBody{
		Type: "WITHDRAWAL", Asset: t.Asset, Network: &t.Network, Address: t.Address, Amount: "0.25",
	})
	if err != nil {
		return 0, err
	}
	if res.JSON200 == nil {
		return 0, fmt.Errorf("withdrawal: %s: %s", res.Status(), res.Body)
	}
	return res.JSON200.Xid, nil
}
