package walletv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

// statusOf returns the word for a transaction's status.
func statusOf(m *history.Movement) string {
	switch {
	case m.Status == bourse.WalletPending && m.Kind == history.MovementDeposit:
		return "CONFIRM_PENDING"
	case m.Status == bourse.WalletPendingCancel:
		return "CANCEL_PENDING"
	default:
		return m.Status.String()
	}
}

// writeTransaction writes a transaction's fields.
func (w *Wallet) writeTransaction(c *v2.Call, l *teller.Listing, m *history.Movement) error {
	catalogue := w.View.Catalogue()
	asset := catalogue.Assets[m.Asset]
	address, memo, err := l.Parties(c.Context, m)
	if err != nil {
		return err
	}

	out := c.Out
	out.Uint("xid", uint64(m.ID))
	out.Word("type", teller.KindWords[m.Kind])
	out.Amount("amount", m.Amount, asset.Scale)
	out.Word("status", statusOf(m))
	out.Seconds("createTime", m.Created)
	out.Maybe("address", address)
	out.Maybe("memo", memo)

	if m.Status == bourse.WalletDone {
		out.Seconds("confirmTime", m.Done)
	} else {
		out.Null("confirmTime")
	}
	w.writeChain(c, l, m)

	if m.Kind == history.MovementDeposit {
		out.Null("fee")
	} else {
		out.Amount("fee", m.Fee, asset.Scale)
	}
	out.Bool("delayed", w.delayed(m))

	w.writeAsset(c, asset)

	if teller.Given(m) {
		out.Null("network")
	} else {
		w.writeNetwork(c, catalogue.Networks[m.Network])
	}
	return nil
}

// writeChain writes the fields that come from the network.
func (w *Wallet) writeChain(c *v2.Call, l *teller.Listing, m *history.Movement) {
	out := c.Out
	onChain := m.Kind == history.MovementDeposit && m.Other == 0

	if onChain && m.Status == bourse.WalletPending {
		out.Uint("confirmations", l.Confirms(m))
	} else {
		out.Null("confirmations")
	}

	if onChain {
		out.Uint("confirmTarget", uint64(m.Target))
	} else {
		out.Null("confirmTarget")
	}

	if teller.Given(m) {
		out.Null("txid")
	} else {
		out.Maybe("txid", l.TxID(m))
	}

	if onChain {
		out.Uint("height", m.Height)
	} else {
		out.Null("height")
	}
}

// delayed reports whether a transaction waits for an approval, a hold or a node.
func (w *Wallet) delayed(m *history.Movement) bool {
	switch {
	case m.Status != bourse.WalletPending && m.Status != bourse.WalletProcessing:
		return false
	case m.Kind != history.MovementDeposit && m.Status == bourse.WalletPending:
		return true
	}
	n, connected := w.Networks.Network(m.Network)
	return !connected || !n.Operating()
}

// own returns the transaction that the path names; an error if it is another account's.
func (w *Wallet) own(c *v2.Call) (m history.Movement, err error) {
	id := c.SegmentID("xid")
	if err := c.Err(); err != nil {
		return m, err
	}

	m, found, err := w.History.WalletTransaction(c.Context, c.Who.Account, bourse.WalletID(id))
	if err != nil || found {
		return m, err
	}

	switch issued, err := w.History.Issued(c.Context, bourse.WalletID(id)); {
	case err != nil:
		return m, err
	case issued:
		return m, api.Errorf(codes.Forbidden, "xid: it is not yours")
	default:
		return m, api.Errorf(codes.NotFound, "xid: there is none with this id")
	}
}

// show answers with a transaction that the request just changed. A failure to read it
// must not look like a refusal: a client that repeats the request would pay twice.
func (w *Wallet) show(c *v2.Call, id bourse.WalletID) error {
	l := w.NewListing()
	m, found, err := w.History.WalletTransaction(c.Context, c.Who.Account, id)
	if err != nil || !found {
		return bourse.Errorf(bourse.CodeUnknown, "The request was taken; transaction %d cannot be shown yet", id)
	}
	return w.writeTransaction(c, l, &m)
}
