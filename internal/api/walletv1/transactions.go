package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var transactionsFields = api.Fields{"offset", "asset", "type", "status", "after", "from", "to"}

// transactions lists the account's deposits, withdrawals and transfers, newest first.
func (w *Wallet) transactions(c *api.Call) error {
	c.Require("offset")
	skip, filter := c.Offset(), w.movementFilter(c)
	if err := c.Err(); err != nil {
		return err
	}
	c.ChargeSkipped(skip, w.View.Movements(c.Who.Account))

	l := listing{Listing: w.NewListing(), Call: c}
	list, err := w.History.WalletTransactions(c.Context, c.Who.Account, filter, skip, pageSize)
	if err != nil {
		return err
	}

	return l.writeAll(list)
}

// listing writes one page.
type listing struct {
	*teller.Listing
	*api.Call
	catalogue *view.Catalogue
}

// writeAll writes rows.
func (l *listing) writeAll(list []history.Movement) error {
	l.catalogue = l.View.Catalogue() // newer than the rows, so it has their assets and networks
	l.Out.Name("transactions")
	l.Out.Array()
	for i := range list {
		l.Out.Object()
		if err := l.write(&list[i]); err != nil {
			return err
		}
		l.Out.EndObject()
	}
	l.Out.EndArray()
	return nil
}

func (w *Wallet) movementFilter(c *api.Call) (f history.MovementFilter) {
	if c.Has("asset") {
		if a := api.Named(c.Form, "asset", w.View.Catalogue().Asset); a != nil {
			f.Asset = a.ID
		}
	}
	f.Before = bourse.WalletID(c.ID("after"))
	f.From, f.To = c.Period()
	kinds := api.Words[history.MovementKind](c.Form, "type", teller.KindWords[:])
	status := api.Word(c.Form, "status", bourse.ParseWalletStatus)
	if len(kinds) == 0 && status == 0 {
		return f
	}

	if len(kinds) == 0 {
		kinds = allKinds
	}
	var statuses []bourse.WalletStatus
	if status != 0 {
		statuses = []bourse.WalletStatus{status}
	}
	for _, kind := range kinds {
		f.Of = f.Of.With(kind, statuses...)
	}
	return f
}

var allKinds = []history.MovementKind{
	history.MovementDeposit, history.MovementWithdrawal, history.MovementTransferIn, history.MovementTransferOut,
}

func (l *listing) write(m *history.Movement) error {
	asset, network := l.catalogue.Assets[m.Asset], l.catalogue.Networks[m.Network]
	if teller.Given(m) {
		network = new(bourse.Network)
	}
	address, memo, err := l.Parties(l.Context, m)
	if err != nil {
		return err
	}

	out := l.Out
	out.Uint("xid", uint64(m.ID))
	out.Word("type", teller.KindWords[m.Kind])
	out.Word("asset", string(asset.Symbol))
	out.Word("network", string(network.Symbol))
	out.Amount("amount", m.Amount, asset.Scale)
	out.Word("status", m.Status.String())
	out.Time("create_time", m.Created)
	out.Text("address", address)
	out.Text("network_description", network.Name)
	out.Text("icon_url", l.Icon(asset.Symbol))

	if memo != "" && (teller.Given(m) || network.MemoName != "") {
		out.Text("memo", memo)
	}
	if network.MemoName != "" {
		out.Text("memo_name", network.MemoName)
	}

	if m.Status == bourse.WalletDone {
		out.Time("exec_time", m.Done)
	}
	switch m.Kind {
	case history.MovementDeposit:
		l.writeDeposit(m)
	case history.MovementWithdrawal:
		l.writeWithdrawal(m, asset)
	case history.MovementTransferIn, history.MovementTransferOut: // without a chain and a fee
	}
	return nil
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
