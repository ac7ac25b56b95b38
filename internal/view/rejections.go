package view

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Rejection is a rejected order, without ID and Ordinal.
type Rejection struct {
	bourse.Order
	Reason bourse.Reason
}

// foldRejection keeps a rejection for as long as the engine keeps its client id. A client
// id that stands for another order was rejected without being kept.
func (v *View) foldRejection(o *bourse.Order, reason bourse.Reason) {
	if o.ClientID.IsZero() || reason == bourse.DuplicateClientID {
		return
	}
	a := v.account(o.Account)
	a.forgetRejection(&o.ClientID)
	if len(a.rejections) == bourse.MaxRejections {
		a.rejections = slices.Delete(a.rejections, 0, 1)
	}
	a.rejections = append(a.rejections, Rejection{*o, reason})
}

// forgetRejection removes the rejection with a client id, which has another outcome now.
func (a *account) forgetRejection(name *bourse.ClientID) {
	a.rejections = slices.DeleteFunc(a.rejections, func(r Rejection) bool { return r.ClientID == *name })
}

// RejectedOrder returns an account's rejected order with a client id that is kept. It is
// the latest order of that name.
func (v *View) RejectedOrder(id bourse.AccountID, name bourse.ClientID) (Rejection, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return Rejection{}, false
	}
	at := slices.IndexFunc(a.rejections, func(r Rejection) bool { return r.ClientID == name })
	if at < 0 || a.rejections[at].Time+bourse.ClientIDKept < v.now {
		return Rejection{}, false
	}
	return a.rejections[at], true
}
