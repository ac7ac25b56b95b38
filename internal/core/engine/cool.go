package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// cool opens an order to move money from the hot wallet of a network to cold storage, or ends it. No money of a
// customer moves: both are the exchange's, and the cost is the network's. The journal does not know how much the hot
// wallet must keep; the worker bounds the move by the settings and by the withdrawals that wait.
func (e *Engine) cool(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Wallet.Network) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(cmd.Wallet.Network)
	if !cmd.On {
		return e.endCool(n, ev)
	}

	terms := e.terms(n.Network, cmd.AssetID)
	if terms == nil || !n.ByOutput() {
		return bourse.NotOnNetwork
	}
	_, rest := cmd.Amount.Div64(bourse.Pow10(e.assets[cmd.AssetID].Scale - terms.Precision))
	switch {
	case rest != 0:
		return bourse.BadPrecision
	case n.Owned(len(e.assets))[cmd.AssetID].Less(cmd.Amount):
		return bourse.InsufficientFunds
	case n.Cool.ID != 0 || n.MayCool(uint64(terms.Confirms)):
		return bourse.CoolOpen
	}

	n.Cool = bourse.CoolOrder{
		ID: e.custody.AllotWallet(), AssetAmount: bourse.AssetAmount{Asset: cmd.AssetID, Amount: cmd.Amount},
	}
	n.Announce(ev)
	ev.Outcome.ID = uint64(n.Cool.ID)
	return 0
}

// endCool ends the open order, and gives up the transaction of the last one if it is in no block. That one may be mined
// still, and the signer may be about to sign: then the money is in cold storage all the same.
func (e *Engine) endCool(n *custody.Network, ev *bourse.Events) bourse.Reason {
	dropped := n.Drops(ev, bourse.SignedCool)
	if n.Cool.ID == 0 && !dropped {
		return bourse.NothingToEnd
	}
	ev.Outcome.ID = uint64(n.Cool.ID)
	n.Cool = bourse.CoolOrder{}
	n.Announce(ev)
	return 0
}

// recordCool takes over the transaction of an order, which closes it. Whether the order was ended meanwhile makes no
// difference. An id that this journal never allotted, or that a withdrawal has, is the doing of another journal or of a
// thief, and halts the network.
func (e *Engine) recordCool(n *custody.Network, s *bourse.SignedTx, ev *bourse.Events) {
	ev.Outcome.ID = uint64(s.Wallet)
	if !e.custody.Allotted(s.Wallet) || e.custody.Withdrawal(s.Wallet) != nil {
		e.halt(n, bourse.HaltUnknownSigned, ev)
		if !e.custody.UseUp(s.Wallet) {
			return
		}
	}
	if n.Cool.ID == s.Wallet {
		n.Cool = bourse.CoolOrder{}
	}
	if n.CanSign(s) == 0 {
		n.Sign(ev, s)
	} else {
		e.keep(n, s, ev)
	}
}
