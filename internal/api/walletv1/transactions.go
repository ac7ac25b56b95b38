package walletv1

import (
	"encoding/hex"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var transactionsFields = api.Fields{"offset", "asset", "type", "status"}

// kindWords are the types of transactions, by kind.
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

// transactions lists the account's deposits and withdrawals, newest first, but not
// its transfers.
func (w *Wallet) transactions(c *api.Call) error {
	if err := c.Require("offset"); err != nil {
		return err
	}
	skip, err := c.Offset()
	if err != nil {
		return err
	}
	filter, err := w.movementFilter(c)
	if err != nil {
		return err
	}
	l := listing{Wallet: w, Call: c, tips: w.tips(), addresses: map[bourse.NetworkID]string{}}
	list, err := w.History.WalletTransactions(c.Context, c.Who.Account, filter, skip, pageSize)
	if err != nil {
		return err
	}
	l.catalogue = w.View.Catalogue() // what the rows name is in this one
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

// listing is the work on one page.
type listing struct {
	*Wallet
	*api.Call
	catalogue *view.Catalogue
	// tips are the networks' heights from before the rows were read: a pending
	// deposit is not as deep as it must be, and with these it cannot seem to be.
	tips []uint64
	// addresses are those where the account's deposits arrive.
	addresses map[bourse.NetworkID]string
}

func (w *Wallet) tips() []uint64 {
	tips := make([]uint64, len(w.View.Catalogue().Networks))
	for id := range tips {
		tips[id] = w.View.NetworkState(bourse.NetworkID(id)).Tip.Height
	}
	return tips
}

func (w *Wallet) movementFilter(c *api.Call) (f history.MovementFilter, err error) {
	if c.Has("asset") {
		a, err := api.Named(c, "asset", w.View.Catalogue().Asset)
		if err != nil {
			return f, err
		}
		f.Asset = a.ID
	}
	kind, err := api.Word(c.Request, "type", parseKind)
	if err != nil {
		return f, err
	}
	status, err := api.Word(c.Request, "status", bourse.ParseWalletStatus)
	if err != nil {
		return f, err
	}
	var statuses []bourse.WalletStatus
	if status != 0 {
		statuses = []bourse.WalletStatus{status}
	}
	for k := range kindWords {
		if k > 0 && (kind == 0 || int(kind) == k) {
			f.Of = f.Of.With(history.MovementKind(k), statuses...)
		}
	}
	return f, nil
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
	out.Text("address", l.address(m))
	out.Text("network_description", network.Name)
	out.Text("icon_url", l.icon(asset.Symbol))
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
		l.Out.Uint("confirms", l.confirms(m))
		l.Out.Uint("confirms_target", uint64(m.Target))
	}
	l.writeTxID(m, m.Other) // both sides bear the withdrawal's number
	if m.Other == 0 {
		l.Out.Uint("height", m.Height)
	}
}

func (l *listing) writeWithdrawal(m *history.Movement, asset *bourse.Asset) {
	if m.Status == bourse.WalletDone {
		paid := m.ID
		if m.Other == 0 {
			paid = 0
		}
		l.writeTxID(m, paid)
	}
	if m.Status != bourse.WalletPending {
		l.Out.Amount("wd_fee_this", m.Fee, asset.Scale)
	}
	l.Out.Amount("fee", m.Fee, asset.Scale)
}

// address returns where a deposit arrived or a withdrawal goes to.
func (l *listing) address(m *history.Movement) string {
	if m.Kind == history.MovementWithdrawal {
		return m.Address
	}
	address, known := l.addresses[m.Network]
	if n, connected := l.Networks.Network(m.Network); connected && !known {
		address = destination(n, m.Account).Address
		l.addresses[m.Network] = address
	}
	return address
}

// confirms counts from heights that may be older than the deposit's block.
func (l *listing) confirms(m *history.Movement) uint64 {
	var tip uint64
	if int(m.Network) < len(l.tips) {
		tip = l.tips[m.Network]
	}
	return m.Confirms(max(tip, m.Height))
}

// writeTxID writes the name of a transaction, or, of one inside the exchange, that
// of the withdrawal. There is none while an operator has it signed anew.
func (l *listing) writeTxID(m *history.Movement, inside bourse.WalletID) {
	if inside != 0 {
		l.Out.Word("txid", "internal-"+strconv.FormatUint(uint64(inside), 10))
		return
	}
	if m.Tx == (bourse.TxHash{}) {
		return
	}
	txid := hex.EncodeToString(m.Tx[:])
	if n, connected := l.Networks.Network(m.Network); connected {
		txid = n.FormatHash(m.Tx)
	}
	l.Out.Text("txid", txid)
}
