package engine

import "github.com/bourse-exchange/bourse"

// warm takes over a transaction that people signed with the keys of cold storage, before it is sent, or gives up those that
// no block has. No money of a customer moves. A block books the transaction as it books one to cold storage: both ends are
// the exchange's, and the cost is the network's.
func (e *Engine) warm(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	id, asked := cmd.Wallet.Network, cmd.Wallet.Signed
	if cmd.On {
		id = asked.Network
	}
	if e.network(id) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(id)
	if !cmd.On {
		if !n.Drops(ev, bourse.SignedWarm) {
			return bourse.NothingToEnd
		}
		return 0
	}

	terms := e.terms(id, asked.Cost.Asset)
	if terms == nil || !n.ByOutput() {
		return bourse.NotOnNetwork
	}
	if n.Stopped() {
		return bourse.WithdrawalsPaused
	}
	if reason := n.CanSign(asked); reason != 0 {
		return reason
	}
	if n.Beside(asked, uint64(terms.Confirms)) {
		return bourse.WarmOpen
	}

	s := *asked
	s.State, s.Reverted, s.Block, s.Time = bourse.SignedWaiting, false, bourse.BlockRef{}, e.now
	n.Sign(ev, &s)
	return 0
}
