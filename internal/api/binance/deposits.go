package binance

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func depositsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/capital/deposit/hisrec", Security: UserData, Weight: fixed(1),
		Params: append(append(movementParams(), Param{
			Name: "status", State: Differs, Note: "0 pending, 1 credited, 2 canceled; there are none of any other.",
		}), unserved("Deposits are not searched.", "txId includeSource")...),
		Fields: []Field{
			{Names: "id amount coin network address addressTag txId insertTime confirmTimes unlockConfirm transferType"},
			{Names: "status", State: Differs, Note: "0 pending, 1 credited, 2 canceled."},
			{Names: "walletType", State: Differs, Note: "It is always 0."},
			{Names: "completeTime", State: Differs, Note: "It is there once the deposit is credited."},
			{Names: "sourceAddress travelRuleStatus", State: NotServed, Note: "Senders are not kept."},
		},
		Answer: (*Facade).deposits,
	}
}

var depositStatuses = map[int64]bourse.WalletStatus{
	0: bourse.WalletPending, 1: bourse.WalletDone, 2: bourse.WalletCanceled,
}

// deposits lists an account's deposits, newest first.
func (f *Facade) deposits(r *Request) error {
	list, l, err := f.movements(r, history.MovementDeposit, depositStatuses)
	if err != nil {
		return err
	}
	catalogue := f.View.Catalogue() // newer than the rows, so it has their assets and networks
	r.Out.Array()
	for i := range list {
		m := &list[i]
		asset := catalogue.Assets[m.Asset]
		address, memo, err := l.Parties(r.Context, m)
		if err != nil {
			return err
		}
		r.Out.Object()
		r.Out.Word("id", movementID(m))
		r.amount("amount", m.Amount, asset.Scale)
		r.Out.Word("coin", string(asset.Symbol))
		r.Out.Word("network", string(catalogue.Networks[m.Network].Symbol))
		r.Out.Int("status", depositStatus(m.Status))
		r.Out.Text("address", address)
		r.Out.Text("addressTag", memo)
		r.Out.Text("txId", l.TxID(m))
		r.time("insertTime", m.Created)
		r.Out.Int("transferType", transferType(m))
		target := uint64(m.Target)
		r.Out.Word("confirmTimes", strconv.FormatUint(min(l.Confirms(m), target), 10)+"/"+strconv.FormatUint(target, 10))
		r.Out.Uint("unlockConfirm", target)
		r.Out.Int("walletType", 0)
		if m.Status == bourse.WalletDone {
			r.time("completeTime", m.Done)
		}
		r.Out.EndObject()
	}
	r.Out.EndArray()
	return nil
}

// depositStatus returns the number of a deposit's status.
func depositStatus(s bourse.WalletStatus) int64 {
	for number, status := range depositStatuses {
		if status == s {
			return number
		}
	}
	return 0
}
