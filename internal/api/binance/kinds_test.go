package binance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

// TestKindsOfOrders places an order of each type that waits, lets it fire, and wants it to be
// shown by its word, with its stop, and without the price that it does not name.
func TestKindsOfOrders(t *testing.T) {
	for _, c := range []struct {
		params, price string
		fires         string // the price of the trade that fires it
	}{
		{"side=SELL&type=STOP_LOSS&quantity=0.01&stopPrice=49000", "0.00", "49000"},
		{"side=SELL&type=STOP_LOSS_LIMIT&timeInForce=GTC&quantity=0.01&stopPrice=49000&price=48000", "48000.00", "49000"},
		{"side=SELL&type=TAKE_PROFIT&quantity=0.01&stopPrice=51000", "0.00", "51000"},
		{"side=SELL&type=TAKE_PROFIT_LIMIT&timeInForce=GTC&quantity=0.01&stopPrice=51000&price=48000", "48000.00", "51000"},
		{"side=BUY&type=STOP_LOSS&quantity=0.01&stopPrice=51000", "0.00", "51000"},
		{"side=BUY&type=TAKE_PROFIT&quantity=0.01&stopPrice=49000", "0.00", "49000"},
	} {
		d := open(t, api.Limits{})
		d.trade("0.1", "50000")
		id := d.order(d.alice, c.params)
		type shown struct {
			Type, Price, StopPrice, Status, ExecutedQty string
			IsWorking                                   bool
		}
		read := func() (o shown) {
			d.sign(d.alice, http.MethodGet, "/api/v3/order", fmt.Sprintf("symbol=BTCUSDT&orderId=%d", id)).into(d, &o)
			return o
		}
		waiting := read()
		if waiting.IsWorking || waiting.Status != "NEW" || waiting.Price != c.price {
			t.Errorf("%s waits as %+v", c.params, waiting)
		}
		d.order(d.bob, limit("BUY", "0.02", "48000"))
		d.order(d.bob, limit("SELL", "0.02", "52000"))
		d.order(d.bob, limit("SELL", "0.001", c.fires))
		d.order(d.alice, limit("BUY", "0.001", c.fires))
		fired := read()
		if !fired.IsWorking || fired.Status != "FILLED" || fired.ExecutedQty != "0.010000" || fired.StopPrice != waiting.StopPrice || fired.Price != c.price {
			t.Errorf("%s fired is %+v", c.params, fired)
		}
	}
}
