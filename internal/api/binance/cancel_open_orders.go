package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

func cancelOpenOrdersEndpoint() Endpoint {
	return Endpoint{
		Method: "DELETE", Path: "/api/v3/openOrders", WS: "openOrders.cancelAll", Security: Trade, Weight: fixed(1),
		Class: api.Cancels, Params: need("symbol"), Fields: canceledFields, Answer: (*Facade).cancelOpenOrders,
	}
}

// cancelOpenOrders cancels an account's orders in a market. Without any nothing is journaled.
func (f *Facade) cancelOpenOrders(r *Request) error {
	m := r.market()
	switch {
	case r.Err() != nil:
		return r.Err()
	case m.State == bourse.MarketHalted:
		return refused(bourse.MarketHaltedNow)
	case !f.View.MayHaveOpen(r.Who.Account, m.ID):
		return refused(bourse.OrderNotFound)
	}

	result, err := f.Sequencer.Do(r.Context, &bourse.Command{
		Kind: bourse.CommandCancelAll, Account: r.Who.Account, MarketID: m.ID,
	})
	switch {
	case err != nil:
		return err
	case result.Outcome.Reason != 0:
		return refused(result.Outcome.Reason)
	case len(result.Canceled) == 0:
		return refused(bourse.OrderNotFound)
	}

	r.charge(len(result.Canceled) / readTogether)
	r.Out.Array()
	for _, id := range result.Canceled {
		if err := f.writeCanceled(r, id, result.Time); err != nil {
			return err
		}
	}
	r.Out.EndArray()
	return nil
}
