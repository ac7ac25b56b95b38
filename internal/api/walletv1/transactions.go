package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var transactionsFields = api.Fields{"offset", "asset", "type", "status"}

// kindWords are the words for types of transactions.
var kindWords = [...]string{
	history.MovementDeposit: "DEPOSIT", history.MovementWithdrawal: "WITHDRAWAL",
}

func parseKind(s string) (history.MovementKind, bool) {
	for kind, word := range kindWords {
		if kind > 0 && word == s {
			return history.MovementKind(kind), true
		}
	}
	return 0, false
}

// transactions lists the account's deposits and withdrawals, newest first. Transfers are
// left out.
func (w *Wallet) transactions(c *api.Call) error {
	c.Require("offset")
	skip, filter := c.Offset(), w.movementFilter(c)
	if err := c.Err(); err != nil {
		return err
	}

	l := listing{Listing: w.NewListing(), Call: c}
	list, err := w.History.WalletTransactions(c.Context, c.Who.Account, filter, skip, pageSize)
	if err != nil {
		return err
	}

	l.catalogue = w.View.Catalogue() // newer than the rows, so it has their assets and networks
	c.Out.Name("transactions")
	c.Out.Array()
	for i := range list {
		c.Out.Object()
		l.write(&list[i])
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

// listing writes one page.
type listing struct {
	*teller.Listing
	*api.Call
	catalogue *view.Catalogue
}

func (w *Wallet) movementFilter(c *api.Call) (f history.MovementFilter) {
	if c.Has("asset") {
		if a := api.Named(c.Form, "asset", w.View.Catalogue().Asset); a != nil {
			f.Asset = a.ID
		}
	}
	kind := api.Word(c.Form, "type", parseKind)
	status := api.Word(c.Form, "status", bourse.ParseWalletStatus)

	var statuses []bourse.WalletStatus
	if status != 0 {
		statuses = []bourse.WalletStatus{status}
	}
	for k := range kindWords {
		if k > 0 && (kind == 0 || int(kind) == k) {
			f.Of = f.Of.With(history.MovementKind(k), statuses...)
		}
	}
	return f
}

func (l *listing) write(m *history.Movement) {
	asset, network := l.catalogue.Assets[m.Asset], l.catalogue.Networks[m.Network]

	out := l.Out
	out.Uint("xid", uint64(m.ID))
	out.Word("type", kindWords[m.Kind])
	out.Word("asset", string(asset.Symbol))
	out.Word("network", string(network.Symbol))
	out.Amount("amount", m.Amount, asset.Scale)
	out.Word("status", m.Status.String())
	out.Time("create_time", m.Created)
	out.Text("address", l.Address(m))
	out.Text("network_description", network.Name)
	out.Text("icon_url", l.Icon(asset.Symbol))

	if network.MemoName != "" {
		if m.Memo != "" {
			out.Text("memo", m.Memo)
		}
		out.Text("memo_name", network.MemoName)
	}

	if m.Status == bourse.WalletDone {
		out.Time("exec_time", m.Done)
	}
	if m.Kind == history.MovementDeposit {
		l.writeDeposit(m)
	} else {
		l.writeWithdrawal(m, asset)
	}
}

func (l *listing) writeDeposit(m *history.Movement) {
	if m.Status == bourse.WalletPending {
		l.Out.Uint("confirms", l.Confirms(m))
		l.Out.Uint("confirms_target", uint64(m.Target))
	}
	l.writeTxID(m)
	if m.Other == 0 {
		l.Out.Uint("height", m.Height)
	}
}

func (l *listing) writeWithdrawal(m *history.Movement, asset *bourse.Asset) {
	l.writeTxID(m)
	if m.Status != bourse.WalletPending {
		l.Out.Amount("wd_fee_this", m.Fee, asset.Scale)
	}
	l.Out.Amount("fee", m.Fee, asset.Scale)
}

func (l *listing) writeTxID(m *history.Movement) {
	if txid := l.TxID(m); txid != "" {
		l.Out.Text("txid", txid)
	}
}
