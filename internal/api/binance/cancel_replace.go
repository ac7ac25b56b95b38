package binance

import (
	"net/http"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/wire"
)

func cancelReplaceEndpoint() Endpoint {
	return Endpoint{
		Method: "POST", Path: "/api/v3/order/cancelReplace", WS: "order.cancelReplace", Security: Trade, Weight: fixed(1),
		Class: api.Orders, Repeatable: "newClientOrderId", Counts: 1,
		Params: slices.Concat(orderParams(), need("cancelReplaceMode"),
			may("cancelOrderId cancelOrigClientOrderId cancelNewClientOrderId"), []Param{
				{Name: "orderRateLimitExceededMode", State: Differs, Note: "DO_NOTHING alone."},
			}, unserved("An order is canceled whatever it has traded.", "cancelRestrictions")),
		Fields: slices.Concat([]Field{{Names: "cancelResult newOrderResult"}},
			prefixed("cancelResponse.", canceledFields), prefixed("newOrderResponse.", newOrderFields)),
		Answer: (*Facade).cancelReplace,
	}
}

// replacement is a request to cancel an order and to place another one.
type replacement struct {
	*Request
	command bourse.Command
	market  *bourse.Market
	// cancel is the request for the cancel by itself.
	cancel *Request
	resp   int
}

// cancelReplace cancels an order and places another one in one command. It weighs as both.
func (f *Facade) cancelReplace(r *Request) error {
	x := f.readReplacement(r)
	if err := r.Err(); err != nil {
		return err
	}

	// What costs nothing stays out of the journal, as with cancels; but an order with a name may
	// be a repetition, which the engine answers.
	s := x.cancel.selectOrder()
	reason := f.target(x, &s)
	if reason != 0 && r.Pending {
		return refused(reason)
	}
	if reason != 0 && !x.command.On && x.command.NewOrder.ClientID.IsZero() {
		return f.answerReplaced(x, &sequencer.Result{Outcome: bourse.Outcome{Reason: reason, Cancel: reason}})
	}

	r.charge(1)
	over, err := f.Turn(f.Limits, r.Who.Account, &x.command.NewOrder)
	if err != nil {
		return err
	}
	defer over()
	result, err := f.Sequencer.Do(r.Context, &x.command)
	if err != nil {
		return err
	}
	return f.answerReplaced(x, &result)
}

// readReplacement reads the request.
func (f *Facade) readReplacement(r *Request) *replacement {
	const byID, byName = "cancelOrderId", "cancelOrigClientOrderId"
	x := &replacement{Request: r, command: bourse.Command{Kind: bourse.CommandReplace, Account: r.Who.Account}}
	x.market, x.resp = r.readOrder(&x.command.NewOrder)
	x.command.On = r.One("cancelReplaceMode", "", errReplaceMode, "STOP_ON_FAILURE", "ALLOW_FAILURE") == 1
	r.One("orderRateLimitExceededMode", "DO_NOTHING", errLimitMode, "DO_NOTHING")
	if !r.Has(byID) && !r.Has(byName) {
		r.Fail(neither(byName, byID))
	}
	r.Long(byID, 0)

	part := *r
	part.Params = new(Params)
	for _, name := range [...][2]string{
		{"symbol", "symbol"}, {"orderId", byID}, {"origClientOrderId", byName}, {"newClientOrderId", "cancelNewClientOrderId"},
	} {
		if value, has := r.Raw(name[1]); has {
			part.list = append(part.list, given{name[0], value})
		}
	}
	x.cancel = &part
	return x
}

// target sets the order to cancel, and returns the reason for which the view refuses that.
func (f *Facade) target(x *replacement, s *selection) bourse.Reason {
	o, open := f.open(x.cancel, s)
	if open {
		x.command.Order = o.ID
		if s.market.State == bourse.MarketHalted {
			return bourse.MarketHaltedNow
		}
		return 0
	}
	if _, other := f.View.OpenOrder(x.Who.Account, s.id); !other {
		x.command.Order = s.id // it may be that of a repetition
	}
	return bourse.OrderNotFound
}

// The results of a half of a replacement.
const (
	succeeded    = "SUCCESS"
	failedHalf   = "FAILURE"
	notAttempted = "NOT_ATTEMPTED"
)

// answerReplaced answers a replacement. One of which a half failed is an error with both halves.
func (f *Facade) answerReplaced(x *replacement, result *sequencer.Result) error {
	o := &result.Outcome
	if o.Reason == bourse.Voided {
		return refused(o.Reason)
	}
	canceled, placed := succeeded, succeeded
	if o.Cancel != 0 {
		canceled = failedHalf
	}
	switch {
	case o.Reason != 0 && o.Reason == o.Cancel && !x.command.On:
		placed = notAttempted
	case o.Reason != 0:
		placed = failedHalf
	}

	out := x.Out
	if canceled != succeeded || placed != succeeded {
		out = wire.NewWriter(nil)
	}
	if err := f.writeReplaced(x, out, result, canceled, placed); err != nil {
		return err
	}
	switch {
	case out == x.Out:
		return nil
	case canceled != succeeded && placed != succeeded:
		return &Error{Code: codeReplace, Message: "Order cancel-replace failed.", Data: out.Bytes()}
	}
	return &Error{
		Code: codeHalfReplaced, Status: http.StatusConflict, Message: "Order cancel-replace partially failed.", Data: out.Bytes(),
	}
}

// writeReplaced writes both halves of a replacement.
func (f *Facade) writeReplaced(x *replacement, out *wire.Writer, result *sequencer.Result, canceled, placed string) error {
	cancel, order := *x.cancel, *x.Request
	cancel.Out, order.Out = out, out
	out.Object()
	out.Word("cancelResult", canceled)
	out.Word("newOrderResult", placed)
	out.Name("cancelResponse")
	if canceled == succeeded {
		if err := f.writeCanceled(&cancel, x.command.Order, result.Time); err != nil {
			return err
		}
	} else {
		WriteError(out, Refusal(result.Outcome.Cancel))
	}
	switch placed {
	case notAttempted:
		out.Null("newOrderResponse")
	case failedHalf:
		out.Name("newOrderResponse")
		WriteError(out, Refusal(result.Outcome.Reason))
	default:
		out.Name("newOrderResponse")
		if err := f.writeNew(&order, x.market, &x.command.NewOrder, result, x.resp); err != nil {
			return err
		}
	}
	out.EndObject()
	return nil
}
