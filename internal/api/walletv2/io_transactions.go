package walletv2

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

var transactionsFields = fields(v2.PageFields, api.Fields{"type", "status", "asset", "network"})

// statusWords are the statuses of transactions, in the order of their lives.
var statusWords = []string{"PENDING", "PROCESSING", "CONFIRM_PENDING", "DONE", "CANCEL_PENDING", "CANCELED"}

// transactions lists the account's transactions, newest first.
func (w *Wallet) transactions(c *v2.Call) error {
	p, err := c.Page()
	if err != nil {
		return err
	}
	filter, err := w.transactionFilter(c)
	if err != nil {
		return err
	}
	l := w.NewListing()
	list, err := w.History.WalletTransactions(c.Context, c.Who.Account, filter, p.Offset, p.Query())
	if err != nil {
		return err
	}
	var failed error
	v2.WriteList(c, "transactions", p, list, func(m *history.Movement) {
		if err := w.writeTransaction(c, l, m); err != nil && failed == nil {
			failed = err
		}
	})
	return failed
}

func (w *Wallet) transactionFilter(c *v2.Call) (f history.MovementFilter, err error) {
	kinds, err := words(c, "type", kindWords[1:])
	if err != nil {
		return f, err
	}
	statuses, err := words(c, "status", statusWords)
	if err != nil {
		return f, err
	}
	f.Asset, err = filterBy(c, "asset", w.View.Catalogue().Asset, func(a *bourse.Asset) bourse.AssetID { return a.ID })
	if err != nil {
		return f, err
	}
	if f.Network, err = w.networkFilter(c); err != nil || len(kinds)+len(statuses) == 0 {
		return f, err
	}
	for kind := history.MovementDeposit; kind <= history.MovementTransferOut; kind++ {
		for status := bourse.WalletPending; status <= bourse.WalletDone; status++ {
			m := history.Movement{Kind: kind, Status: status}
			if (len(kinds) == 0 || slices.Contains(kinds, kindWords[kind])) &&
				(len(statuses) == 0 || slices.Contains(statuses, statusOf(&m))) {
				f.Of = f.Of.With(kind, status)
			}
		}
	}
	if f.Of == 0 {
		f.Of = nothing
	}
	return f, nil
}

// nothing is the set of what cannot be: no type has all statuses, and what is asked
// for may be of none.
const nothing history.MovementSet = 1

// words reads a field that lists words with commas between them; absent is none.
func words(c *v2.Call, name string, known []string) ([]string, error) {
	if !c.Has(name) {
		return nil, nil
	}
	text, err := c.Text(name)
	if err != nil {
		return nil, err
	}
	list := strings.Split(text, ",")
	for _, word := range list {
		if !slices.Contains(known, word) {
			return nil, api.Invalid(name, strconv.Quote(word[:min(len(word), 32)])+" is none of "+strings.Join(known, ", "))
		}
	}
	return list, nil
}
