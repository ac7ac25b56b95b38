package audit

import (
	"fmt"
	"maps"
	"math/big"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// wallet is the books' state of deposits and withdrawals.
type wallet struct {
	// open maps ids to withdrawals that hold money.
	open map[bourse.WalletID]bourse.Withdrawal
	// ended holds the final statuses of withdrawals, credited the credited deposits.
	ended    map[bourse.WalletID]bourse.WalletStatus
	credited map[bourse.DepositID]bool
	// due is the sum of credited deposits, paid the sum of the transfers that credited
	// them.
	due, paid map[bourse.AssetID]*big.Int
	wrong     []string
}

func newWallet() wallet {
	return wallet{
		open: map[bourse.WalletID]bourse.Withdrawal{}, ended: map[bourse.WalletID]bourse.WalletStatus{},
		credited: map[bourse.DepositID]bool{},
		due:      map[bourse.AssetID]*big.Int{}, paid: map[bourse.AssetID]*big.Int{},
	}
}

func add(sums map[bourse.AssetID]*big.Int, asset bourse.AssetID, amount bourse.Amount) {
	if sums[asset] == nil {
		sums[asset] = new(big.Int)
	}
	sums[asset].Add(sums[asset], number(amount))
}

func (w *wallet) transfer(t *bourse.Transfer) {
	if t.Kind == bourse.TransferCredited {
		add(w.paid, t.Asset, t.Amount)
	}
}

// deposit applies a deposit's new state. Only deposits from outside count: one paid
// inside the exchange is a transfer of its withdrawal.
func (w *wallet) deposit(d *bourse.Deposit) {
	if d.From == 0 && d.Status == bourse.WalletDone && !w.credited[d.Number] {
		w.credited[d.Number] = true
		add(w.due, d.Asset, d.Amount)
	}
}

func (w *wallet) withdrawal(d *bourse.Withdrawal) {
	delete(w.open, d.ID)
	before := w.ended[d.ID]
	switch {
	case d.Status == bourse.WalletCanceled || d.Status == bourse.WalletDone:
		if before != 0 && before != d.Status {
			w.wrong = append(w.wrong, "a withdrawal is both "+before.String()+" and "+d.Status.String())
		}
		w.ended[d.ID] = d.Status
	case before != 0:
		w.wrong = append(w.wrong, "a withdrawal that was "+before.String()+" is "+d.Status.String())
	default:
		w.open[d.ID] = *d
	}
}

// checkWallet reports broken rules of deposits and withdrawals: credited twice or never,
// ended twice, or a network balance that differs from the debt of its account.
func (b *Books) checkWallet(e *engine.Engine, say func(string, ...any)) {
	for _, wrong := range b.wallet.wrong {
		say("%s", wrong)
	}
	b.wallet.wrong = nil

	zero := new(big.Int)
	for _, a := range e.Assets() {
		due, paid := b.wallet.due[a.ID], b.wallet.paid[a.ID]
		if due == nil {
			due = zero
		}
		if paid == nil {
			paid = zero
		}
		if due.Cmp(paid) != 0 {
			say("deposits of asset %d come to %s and were credited with %s", a.ID, due, paid)
		}
	}

	for _, n := range e.Networks() {
		lies := map[bourse.AssetID]*big.Int{}
		e.Owned(n.ID, func(asset bourse.AssetID, has bourse.Amount) { lies[asset] = number(has) })
		for _, a := range e.Assets() {
			want := new(big.Int).Neg(b.at(place{bourse.NetworkAccount(n.ID), a.ID}))
			got := lies[a.ID]
			if got == nil {
				got = zero
			}
			if got.Cmp(want) != 0 {
				say("%s of asset %d lie on %s; its account owes %s", got, a.ID, n.Symbol, want)
			}
		}
	}
}

// NetworkReport is the exchange's state on a network.
type NetworkReport struct {
	Network bourse.Symbol `json:"network"`
	Height  uint64        `json:"height"`
	Paused  bool          `json:"paused"`
	// Halted is the exchange's own reason to stop withdrawals; empty for none.
	Halted string `json:"halted"`
	// Owned is the exchange's balance there, in whole assets.
	Owned map[bourse.Symbol]string `json:"owned"`
	// Chain is the result of a comparison with the network itself.
	Chain Comparison `json:"chain"`
}

// Comparison is the result of comparing the journal with a chain.
type Comparison string

// The closed set of comparisons.
const (
	NotCompared Comparison = "not compared"
	Agrees      Comparison = "agrees"
	Differs     Comparison = "differs"
)

// Compare compares the journal's balances on a network with the chain's, in whole assets.
// It returns false and changes nothing if the two are at different heights.
func (r *Report) Compare(network bourse.Symbol, height uint64, owned map[bourse.Symbol]string) bool {
	for i := range r.Networks {
		n := &r.Networks[i]
		if n.Network != network || n.Height != height {
			continue
		}
		n.Chain = Agrees
		if !maps.Equal(n.Owned, owned) {
			n.Chain = Differs
			r.Violations = append(r.Violations, fmt.Sprintf(
				"network %s at height %d: the journal has %v there, the chain %v",
				network, height, n.Owned, owned))
		}
		return true
	}
	return false
}

func networks(e *engine.Engine) []NetworkReport {
	list := []NetworkReport{}
	assets := e.Assets()
	for _, n := range e.Networks() {
		s := e.NetworkState(n.ID)
		if s.Tip == (bourse.BlockRef{}) && !s.Stopped() {
			continue
		}
		r := NetworkReport{
			Network: n.Symbol, Height: s.Tip.Height, Paused: s.Paused, Halted: s.Halted.String(),
			Owned: map[bourse.Symbol]string{}, Chain: NotCompared,
		}
		e.Owned(n.ID, func(id bourse.AssetID, has bourse.Amount) {
			r.Owned[assets[id-1].Symbol] = has.Format(assets[id-1].Scale)
		})
		list = append(list, r)
	}
	return list
}
