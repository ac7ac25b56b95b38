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

// transactions lists the account's deposits and withdrawals, newest first.
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
	catalogue := w.View.Catalogue()
	// A deposit that is pending is not as deep as it must be; with the heights
	// from before it was read, it cannot seem to be.
	tips := make([]uint64, len(catalogue.Networks))
	for id := range tips {
		tips[id] = w.View.NetworkState(bourse.NetworkID(id)).Tip.Height
	}
	list, err := w.History.WalletTransactions(c.Context, c.Who.Account, filter, skip, pageSize)
	if err != nil {
		return err
	}
	catalogue = w.View.Catalogue() // what the rows name is in this one
	c.Out.Name("transactions")
	c.Out.Array()
	for i := range list {
		c.Out.Object()
		w.writeMovement(c, catalogue, &list[i], tips)
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

func (w *Wallet) movementFilter(c *api.Call) (f history.MovementFilter, err error) {
	if c.Has("asset") {
		a, err := api.Named(c, "asset", w.View.Catalogue().Asset)
		if err != nil {
			return f, err
		}
		f.Asset = a.ID
	}
	if f.Kind, err = api.Word(c.Request, "type", parseKind); err != nil {
		return f, err
	}
	f.Status, err = api.Word(c.Request, "status", bourse.ParseWalletStatus)
	return f, err
}

func (w *Wallet) writeMovement(c *api.Call, catalogue *view.Catalogue, m *history.Movement, tips []uint64) {
	asset, network := catalogue.Assets[m.Asset], catalogue.Networks[m.Network]
	connected, _ := w.Networks.Network(m.Network)
	c.Out.Uint("xid", uint64(m.ID))
	c.Out.Word("type", kindWords[m.Kind])
	c.Out.Word("asset", string(asset.Symbol))
	c.Out.Word("network", string(network.Symbol))
	c.Out.Amount("amount", m.Amount, asset.Scale)
	c.Out.Word("status", m.Status.String())
	c.Out.Time("create_time", m.Created)
	c.Out.Text("address", addressOf(connected, m))
	c.Out.Text("network_description", network.Name)
	c.Out.Text("icon_url", w.icon(asset.Symbol))
	if network.MemoName != "" {
		if m.Memo != "" {
			c.Out.Text("memo", m.Memo)
		}
		c.Out.Text("memo_name", network.MemoName)
	}
	if m.Status == bourse.WalletDone {
		c.Out.Time("exec_time", m.Done)
	}
	if m.Kind == history.MovementDeposit && m.Status == bourse.WalletPending {
		c.Out.Uint("confirms", confirms(m, tips))
		c.Out.Uint("confirms_target", uint64(m.Target))
	}
	writeTxID(c, connected, m)
	if m.Kind == history.MovementDeposit && m.Other == 0 {
		c.Out.Uint("height", m.Height)
	}
	if m.Kind == history.MovementWithdrawal {
		if m.Status != bourse.WalletPending {
			c.Out.Amount("wd_fee_this", m.Fee, asset.Scale)
		}
		c.Out.Amount("fee", m.Fee, asset.Scale)
	}
}

// addressOf returns where a deposit arrived or a withdrawal goes to.
func addressOf(connected Network, m *history.Movement) string {
	if m.Kind == history.MovementWithdrawal {
		return m.Address
	}
	if connected == nil {
		return ""
	}
	return destination(connected, m.Account).Address
}

// confirms counts from heights that may be older than the deposit's block.
func confirms(m *history.Movement, tips []uint64) uint64 {
	var tip uint64
	if int(m.Network) < len(tips) {
		tip = tips[m.Network]
	}
	return m.Confirms(max(tip, m.Height))
}

// writeTxID writes the name of the transaction, once there is one that counts.
func writeTxID(c *api.Call, connected Network, m *history.Movement) {
	switch {
	case m.Kind == history.MovementWithdrawal && m.Status != bourse.WalletDone:
	case m.Other != 0:
		paid := m.ID // both sides bear the withdrawal's
		if m.Kind == history.MovementDeposit {
			paid = m.Other
		}
		c.Out.Word("txid", "internal-"+strconv.FormatUint(uint64(paid), 10))
	case m.Tx == bourse.TxHash{}: // an operator has it signed anew
	case connected == nil:
		c.Out.Word("txid", hex.EncodeToString(m.Tx[:]))
	default:
		c.Out.Text("txid", connected.FormatHash(m.Tx))
	}
}
