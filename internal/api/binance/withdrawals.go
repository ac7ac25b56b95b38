package binance

import (
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func withdrawalsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/capital/withdraw/history", Security: UserData, Weight: fixed(10),
		Params: append(append(movementParams(), Param{
			Name: "status", State: Differs,
			Note: "1 canceled, 2 waits for approval, 4 processing, 6 completed; there are none of any other.",
		}), unserved("Names of withdrawals are not kept with them: the answer to withdraw/apply has the id.",
			"withdrawOrderId idList")...),
		Fields: []Field{
			{Names: "id amount transactionFee coin network address addressTag txId transferType"},
			{Names: "applyTime completeTime", State: Differs,
				Note: "They are texts in UTC, as documented; the latter is there once the withdrawal is completed."},
			{Names: "status", State: Differs, Note: "1 canceled, 2 waits for approval, 4 processing, 6 completed."},
			{Names: "confirmNo walletType", State: Differs, Note: "They are always 0."},
			{Names: "info txKey", State: Differs, Note: "They are empty."},
			{Names: "withdrawOrderId", State: NotServed, Note: "Names of withdrawals are not kept with them."},
		},
		Note: "It weighs 10 and not 18000: there is one limit of weights.", State: Differs,
		Answer: (*Facade).withdrawals,
	}
}

var withdrawalStatuses = map[int64]bourse.WalletStatus{
	1: bourse.WalletCanceled, 2: bourse.WalletPending, 4: bourse.WalletProcessing, 6: bourse.WalletDone,
}

// withdrawals lists an account's withdrawals, newest first.
func (f *Facade) withdrawals(r *Request) error {
	list, l, err := f.movements(r, history.MovementWithdrawal, withdrawalStatuses)
	if err != nil {
		return err
	}
	catalogue := f.View.Catalogue() // newer than the rows, so it has their assets and networks
	r.Out.Array()
	for i := range list {
		m := &list[i]
		asset := catalogue.Assets[m.Asset]
		r.Out.Object()
		r.Out.Word("id", movementID(m))
		r.amount("amount", m.Amount, asset.Scale)
		r.amount("transactionFee", m.Fee, asset.Scale)
		r.Out.Word("coin", string(asset.Symbol))
		r.Out.Word("network", string(catalogue.Networks[m.Network].Symbol))
		r.Out.Int("status", withdrawalStatus(m.Status))
		r.Out.Text("address", m.Address)
		r.Out.Text("addressTag", m.Memo)
		r.Out.Text("txId", l.TxID(m))
		r.Out.Word("applyTime", m.Created.Std().Format(time.DateTime))
		r.Out.Int("transferType", transferType(m))
		r.Out.Word("info", "")
		r.Out.Int("confirmNo", 0)
		r.Out.Int("walletType", 0)
		r.Out.Word("txKey", "")
		if m.Status == bourse.WalletDone {
			r.Out.Word("completeTime", m.Done.Std().Format(time.DateTime))
		}
		r.Out.EndObject()
	}
	r.Out.EndArray()
	return nil
}

// withdrawalStatus returns the number of a withdrawal's status: that of processing for any
// that has none of its own.
func withdrawalStatus(s bourse.WalletStatus) int64 {
	for number, status := range withdrawalStatuses {
		if status == s {
			return number
		}
	}
	return 4
}
