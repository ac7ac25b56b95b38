package walletv1

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// BalancesState returns the answer of /balances, in one page, for a client that resumes
// the stream of its balances, and the number of the last message that it includes.
func (w *Wallet) BalancesState(who bourse.AccountID) (seq uint64, body []byte) {
	balances, seq := w.View.EveryBalance(who)
	catalogue := w.View.Catalogue()
	if missing := len(catalogue.Assets) - len(balances); missing > 0 {
		balances = append(balances, make([]bourse.Balance, missing)...)
	}

	var list []*bourse.Asset
	for _, a := range catalogue.Assets[1:] {
		if b := &balances[a.ID]; a.Enabled || !b.Available.IsZero() || !b.Held.IsZero() {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *bourse.Asset) int { return cmp.Compare(a.Symbol, b.Symbol) })

	return seq, api.SucceedV1(func(out *wire.Writer) {
		out.Name("balances")
		out.Object()
		for _, a := range list {
			out.Name(string(a.Symbol))
			out.Object()
			writeBalance(out, a, &balances[a.ID])
			out.EndObject()
		}
		out.EndObject()
	})
}

// TransfersState returns the newest page of /transactions, with all older transactions that
// are open behind it, as BalancesState does. It may include later messages as well.
func (w *Wallet) TransfersState(ctx context.Context, who bourse.AccountID) (seq uint64, body []byte, err error) {
	account, _ := w.View.Account(who)
	listed := w.NewListing()
	list, err := w.History.WalletTransactions(ctx, who, history.MovementFilter{}, 0, pageSize)
	if err != nil {
		return 0, nil, err
	}
	if n := len(list); n > 0 {
		list = append(list, w.History.OpenTransactions(who, list[n-1].Ordinal)...)
	}

	body = api.SucceedV1(func(out *wire.Writer) {
		l := listing{Listing: listed, Call: &api.Call{Context: ctx, Out: out}}
		err = l.writeAll(list)
	})
	return account.Streams.Transfers, body, err
}

// Row writes the fields of a transaction's row in /transactions.
func (w *Wallet) Row(ctx context.Context, out *wire.Writer, m *history.Movement) error {
	l := listing{Listing: w.NewListing(), Call: &api.Call{Context: ctx, Out: out}, catalogue: w.View.Catalogue()}
	return l.write(m)
}
