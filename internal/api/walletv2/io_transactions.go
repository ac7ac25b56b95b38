package walletv2

import (
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

var transactionsFields = fields(v2.PageFields, api.Fields{"type", "status", "asset", "network"})

// statusWords are the statuses of transactions, in the order of a transaction's life.
var statusWords = []string{"PENDING", "PROCESSING", "CONFIRM_PENDING", "DONE", "CANCEL_PENDING", "CANCELED"}

// transactions lists the account's transactions, newest first.
func (w *Wallet) transactions(c *v2.Call) error {
	p, filter := c.Page(), w.transactionFilter(c)
	if err := c.Err(); err != nil {
		return err
	}

	if filter != (history.MovementFilter{}) {
		c.ChargeSkipped(p.Offset, w.View.Movements(c.Who.Account))
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

func (w *Wallet) transactionFilter(c *v2.Call) (f history.MovementFilter) {
	kinds, statuses := words(c, "type", teller.KindWords[1:]), words(c, "status", statusWords)
	f.Asset, f.Network = w.assetFilter(c), w.networkFilter(c)
	if len(kinds)+len(statuses) == 0 {
		return f
	}

	for kind := history.MovementDeposit; kind <= history.MovementTransferOut; kind++ {
		for status := bourse.WalletPending; status <= bourse.WalletDone; status++ {
			m := history.Movement{Kind: kind, Status: status}
			if (len(kinds) == 0 || slices.Contains(kinds, teller.KindWords[kind])) &&
				(len(statuses) == 0 || slices.Contains(statuses, statusOf(&m))) {
				f.Of = f.Of.With(kind, status)
			}
		}
	}
	if f.Of == 0 {
		f.Of = nothing
	}
	return f
}

// nothing is a set without transactions, for types that never have a requested status. The
// empty set would select all.
const nothing history.MovementSet = 1

// words reads a field with words separated by commas; absent is nil.
func words(c *v2.Call, name string, known []string) []string {
	text := c.Text(name)
	if c.Err() != nil || !c.Has(name) {
		return nil
	}
	list := strings.Split(text, ",")
	for _, word := range list {
		if !slices.Contains(known, word) {
			c.Fail(api.UnknownWord(name, word, known...))
			return nil
		}
	}
	return list
}
