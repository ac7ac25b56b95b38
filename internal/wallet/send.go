package wallet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// send broadcasts what is signed and not known to be accepted, then signs the
// next thing that waits. It reports whether it signed one.
func (w *Worker) send(ctx context.Context, health *chain.Health) (bool, error) {
	signed := w.Board.Signed(w.ID)
	if err := w.broadcast(ctx, signed, health); err != nil {
		return false, err
	}
	state := w.Board.State(w.ID)
	if state.Stopped() || state.Tip == (bourse.BlockRef{}) {
		return false, nil
	}
	limited := 0
	for _, wd := range w.unsigned() {
		if done, err := w.pay(ctx, &wd); done || err != nil {
			return done, err
		}
		if w.beyond(&wd) {
			limited++
		}
	}
	w.mu.Lock()
	w.limited = limited
	w.mu.Unlock()
	if w.Network.Shape().Sweeps {
		return w.sweep(ctx, signed)
	}
	return false, nil
}

// unsigned returns the withdrawals that wait for a signature. Those go first of which
// a transaction was given up, so that nothing else takes the outputs or the number
// that the next one has to have in common with it.
func (w *Worker) unsigned() []bourse.Withdrawal {
	w.givenUp = w.Board.GivenUp(w.ID, func(id bourse.AssetID) uint64 {
		if k := w.coins.byAsset[id]; k != nil {
			return uint64(k.terms.Confirms)
		}
		return math.MaxUint32
	})
	first, rest := []bourse.Withdrawal{}, []bourse.Withdrawal{}
	for _, wd := range w.Board.Unsigned(w.ID) {
		if len(w.instead(wd.ID)) > 0 {
			first = append(first, wd)
		} else {
			rest = append(rest, wd)
		}
	}
	return append(first, rest...)
}

// instead returns the transactions that were given up for a withdrawal and could
// still be mined: what takes their place has to exclude each.
func (w *Worker) instead(id bourse.WalletID) []bourse.SignedTx {
	var list []bourse.SignedTx
	for _, s := range w.givenUp {
		if id != 0 && s.Wallet == id {
			list = append(list, s)
		}
	}
	return list
}

// excludes reports whether a chain that holds a withdrawal's transaction holds none
// of those that were given up for it.
func (w *Worker) excludes(s *bourse.SignedTx) bool {
	return !slices.ContainsFunc(w.instead(s.Wallet), func(old bourse.SignedTx) bool { return !s.Rivals(&old) })
}

// broadcast hands over what the network is not known to have: what waits at each
// step, what it had accepted once for each new block.
func (w *Worker) broadcast(ctx context.Context, signed []bourse.SignedTx, health *chain.Health) error {
	again := health.Head != w.resent
	for i := range signed {
		s := &signed[i]
		if s.State == bourse.SignedWaiting || s.State == bourse.SignedAccepted && again {
			if err := w.offer(ctx, s); err != nil {
				return err
			}
		}
	}
	w.resent = health.Head
	return nil
}

// offer hands over a signed transaction, and journals that the network took it.
func (w *Worker) offer(ctx context.Context, s *bourse.SignedTx) error {
	verdict, err := w.Network.Broadcast(ctx, s.Raw)
	if err != nil {
		return err
	}
	switch verdict.Kind {
	case chain.Accepted, chain.Known:
		delete(w.said, s.Tx)
	case chain.Rejected:
		w.complain(s.Tx, "the network rejects a signed transaction", verdict.Reason,
			slog.String("tx", w.Network.FormatHash(s.Tx)), slog.Uint64("xid", uint64(s.Wallet)))
		return nil
	case chain.Unknown:
		return nil
	}
	if s.State != bourse.SignedWaiting {
		return nil
	}
	_, err = w.submit(ctx, bourse.CommandSent, &bourse.WalletCommand{Network: w.ID, Tx: s.Tx})
	return err
}

// mostHi bounds amounts, so that sums of them and of costs always fit.
const mostHi = 1 << 48

// pay signs a withdrawal and hands it over. It reports whether it did; a
// withdrawal that cannot be paid now waits.
func (w *Worker) pay(ctx context.Context, wd *bourse.Withdrawal) (bool, error) {
	k := w.coins.byAsset[wd.Asset]
	if k == nil {
		return false, nil
	}
	amount, exact := k.units(wd.Amount)
	if !exact || amount.Hi >= mostHi {
		w.complain(wd.ID, "the amount cannot be moved", "finer or larger than its network moves", slog.Uint64("xid", uint64(wd.ID)))
		return false, nil
	}
	if w.beyond(wd) {
		return false, nil
	}
	p := chain.Payment{
		Kind: chain.KindWithdrawal, Coin: k.ID, Amount: amount,
		To: chain.Destination{Address: wd.Address, Memo: wd.Memo}, From: chain.IndexHot,
	}
	return w.carryOut(ctx, &p, wd.ID, 0)
}

// beyond reports whether the signer's limits refuse a withdrawal at this step. To ask
// for each again and again would cost as much as there are withdrawals that wait.
func (w *Worker) beyond(wd *bourse.Withdrawal) bool {
	k := w.coins.byAsset[wd.Asset]
	if k == nil {
		return false
	}
	least, some := w.spent[k.ID]
	amount, _ := k.units(wd.Amount)
	return some && !amount.Less(least)
}

// carryOut chooses what a payment is paid from, has it signed, journals it and
// hands it over.
//
// depositor is whose address is swept or topped up, zero for withdrawals.
func (w *Worker) carryOut(ctx context.Context, p *chain.Payment, id bourse.WalletID, depositor uint32) (bool, error) {
	fees, err := w.feesOf(ctx, p.Coin)
	if err != nil {
		return false, err
	}
	if enough, err := w.source(ctx, p, fees, id); !enough || err != nil {
		return false, err
	}
	unsigned, err := w.Network.Prepare(ctx, p)
	switch {
	case errors.Is(err, chain.ErrFunds), errors.Is(err, chain.ErrCost):
		return false, nil // it waits for money, or for lower fees
	case trouble(err):
		return false, err
	case err != nil: // this payment's own trouble: others go on
		w.complain(id, "a payment cannot be made", err.Error(), slog.String("kind", p.Kind.String()), slog.Uint64("xid", uint64(id)))
		return false, nil
	}
	s, err := w.sign(ctx, p, unsigned, signer.Expect{
		Network: w.ID, Kind: p.Kind, ID: id, Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap,
		Account: depositor, Nonce: p.Nonce,
	})
	if s == nil || err != nil {
		return false, err
	}
	reason, err := w.submit(ctx, bourse.CommandSigned, &bourse.WalletCommand{Signed: s})
	if err != nil {
		return false, err
	}
	if reason != 0 {
		// A cancel came first, or another step changed what it is paid from.
		w.Log.Info("a signed transaction is not sent", slog.Uint64("xid", uint64(id)), slog.String("reason", reason.String()))
		return false, nil
	}
	delete(w.said, id)
	s.State = bourse.SignedWaiting
	return true, w.offer(ctx, s)
}

// maxAttempts bounds the transactions that are tried for one withdrawal.
const maxAttempts = 100

// sign has a payment signed; nil if the signer refuses.
//
// The signer repeats what it signed for this withdrawal before, and that may be
// something else than was prepared now: a crash came between its record and the
// journal. If it can go on record it does. If it cannot, because what it spends
// was spent otherwise meanwhile, it was never sent and never will be; if it was
// on record, an operator gave it up. Either way the signer is asked for the next
// attempt. That may be the same transaction again: then it is given another try.
func (w *Worker) sign(ctx context.Context, p *chain.Payment, u chain.Unsigned, e signer.Expect) (*bourse.SignedTx, error) {
	var last bourse.TxHash
	for ; e.Attempt < maxAttempts; e.Attempt++ {
		signed, err := w.Signer.Sign(ctx, u, e)
		if errors.Is(err, signer.ErrSpent) {
			w.spent[e.Coin] = e.Amount
		}
		if err != nil {
			w.complain(e.ID, "the signer refuses", err.Error(), slog.String("kind", e.Kind.String()), slog.Uint64("xid", uint64(e.ID)))
			return nil, nil
		}
		s, err := w.record(&signed, e.Kind, e.ID)
		if err != nil {
			return nil, err
		}
		takes, dropped := w.Board.Takes(s)
		switch again := s.Tx == last; {
		case takes && s.Nonce == p.Nonce && w.excludes(s) && (again || !dropped):
			return s, nil
		case again, e.Kind != chain.KindWithdrawal:
			return nil, nil
		}
		last = s.Tx
	}
	return nil, nil
}

// source chooses what a payment is paid from; false if there is not enough.
func (w *Worker) source(ctx context.Context, p *chain.Payment, fees chain.Fees, id bourse.WalletID) (enough bool, err error) {
	p.CostCap = fees.Cost
	if w.Network.Shape().Outputs {
		return w.sourceOutputs(p, fees, id), nil
	}
	if p.Kind != chain.KindSweep {
		if enough, err := w.covers(p, fees); !enough || err != nil {
			return false, err
		}
	}
	p.Nonce, err = w.nonce(ctx, p.From, id)
	return err == nil && w.excludes(&bourse.SignedTx{Wallet: id, From: p.From, Nonce: p.Nonce}), err
}

// sourceOutputs chooses outputs. In place of transactions that were given up and
// could still be mined, what all of them spend is spent: so at most one ever is.
// Nothing else spends it meanwhile.
func (w *Worker) sourceOutputs(p *chain.Payment, fees chain.Fees, id bourse.WalletID) bool {
	tip := w.Board.State(w.ID).Tip.Height
	var inputs []chain.Input
	for _, u := range w.Board.Unspent(w.ID) {
		k := w.coins.byAsset[u.Asset]
		promised := slices.ContainsFunc(w.givenUp, func(s bourse.SignedTx) bool {
			return slices.Contains(s.Inputs, u.Outpoint) != (s.Wallet == id)
		})
		if k == nil || !k.ripe(&u, tip) || promised {
			continue
		}
		if amount, exact := k.units(u.Amount); exact {
			inputs = append(inputs, chain.Input{Outpoint: u.Outpoint, Owner: u.Address, Coin: k.ID, Amount: amount})
		}
	}
	chosen, cost, enough := chain.Select(inputs, p.Coin, w.Network.Shape().Native, p.Amount, fees)
	// Change that is not worth an input is left to the network on top.
	p.Inputs, p.CostCap = chosen, cost.Plus(fees.PerInput)
	return enough
}

// ripe reports whether an output may be spent: a deposit must be as deep as for
// its owner to have it, or what was paid from it might leave the chain with it.
func (c *coin) ripe(u *bourse.Unspent, tip uint64) bool {
	return !bourse.AccountID(u.Address).IsCustomer() || u.Height+uint64(c.terms.Confirms) <= tip+1
}

// covers reports whether the hot wallet has enough for one more payment.
func (w *Worker) covers(p *chain.Payment, fees chain.Fees) (bool, error) {
	native := w.Network.Shape().Native
	if w.bound == nil {
		if err := w.bind(native); err != nil {
			return false, err
		}
	}
	need := map[chain.CoinID]bourse.Amount{p.Coin: w.bound[p.Coin].Plus(p.Amount)}
	if p.Coin != native {
		need[native] = w.bound[native]
	}
	need[native] = need[native].Plus(fees.Cost)
	return w.has(native, need[native]) && w.has(p.Coin, need[p.Coin]), nil
}

// bind adds up what the hot wallet may not pay with: what its payments take that
// are in no block yet, because a network may take what cannot be paid and fail it
// in a block; and what was swept to it lately, because that may leave the chain
// again and come back behind the payment.
func (w *Worker) bind(native chain.CoinID) error {
	bound, decoded := map[chain.CoinID]bourse.Amount{}, map[bourse.TxHash]chain.Decoded{}
	for _, s := range w.Board.Signed(w.ID) {
		waits, young := s.State != bourse.SignedMined && s.From == chain.IndexHot, s.Kind == bourse.SignedSweep && w.young(&s)
		if !waits && !young {
			continue
		}
		d, known := w.decoded[s.Tx]
		if !known {
			var err error
			if d, err = w.Network.Decode(s.Raw); err != nil {
				return fmt.Errorf("what was signed: %w", err)
			}
		}
		decoded[s.Tx] = d
		if waits {
			bound[native] = bound[native].Plus(d.Cost)
		}
		for _, pay := range d.Pays {
			bound[pay.Coin] = bound[pay.Coin].Plus(pay.Amount)
		}
	}
	w.bound, w.decoded = bound, decoded
	return nil
}

// young reports whether a transaction's block is not deep enough to stay.
func (w *Worker) young(s *bourse.SignedTx) bool {
	deep := uint64(0)
	for _, k := range w.coins.byID {
		deep = max(deep, uint64(k.terms.Confirms))
	}
	return s.State == bourse.SignedMined && s.Block.Height+deep > w.Board.State(w.ID).Tip.Height+1
}

// has reports whether the hot wallet has so much that is there to stay.
func (w *Worker) has(id chain.CoinID, need bourse.Amount) bool {
	k := w.coins.byID[id]
	if k == nil {
		return false
	}
	var sum bourse.Amount
	for _, h := range w.Board.Holdings(w.ID) {
		if h.Address == chain.IndexHot && h.Asset == k.asset.ID {
			sum = h.Amount
		}
	}
	settled, some := sum.Sub(w.Board.Young(w.ID, chain.IndexHot, k.asset.ID))
	units, _ := k.units(settled)
	return some && !units.Less(need)
}

// nonce returns the number of an address's next payment: that of the withdrawal's
// own transaction that was given up, or the lowest one that was given up, if the
// chain still waits for it.
func (w *Worker) nonce(ctx context.Context, from uint32, id bourse.WalletID) (uint64, error) {
	next, gaps := w.Board.Nonce(w.ID, from)
	if len(gaps) == 0 {
		return next, nil
	}
	onChain, err := w.Network.Nonce(ctx, from)
	if own := w.instead(id); len(own) > 0 && slices.Contains(gaps, own[0].Nonce) {
		gaps = []uint64{own[0].Nonce}
	}
	for _, gap := range gaps {
		if gap >= onChain && err == nil {
			return gap, nil
		}
	}
	return next, err
}

// kinds are the words of the journal for those of the chain.
var kinds = map[chain.Kind]bourse.SignedKind{
	chain.KindWithdrawal: bourse.SignedWithdrawal, chain.KindSweep: bourse.SignedSweep, chain.KindTopUp: bourse.SignedTopUp,
}

// record is what the journal keeps of a signed transaction: what it really does,
// and not what it was asked to do.
func (w *Worker) record(signed *signer.Signed, kind chain.Kind, id bourse.WalletID) (*bourse.SignedTx, error) {
	d, err := w.Network.Decode(signed.Raw)
	if err != nil {
		return nil, fmt.Errorf("what the signer signed: %w", err)
	}
	s := &bourse.SignedTx{
		Network: w.ID, Kind: kinds[kind], Wallet: id, Tx: signed.Hash, Raw: signed.Raw, From: d.From, Nonce: d.Nonce,
	}
	for i := range d.Inputs {
		s.Inputs = append(s.Inputs, d.Inputs[i].Outpoint)
	}
	if n := w.coins.native; n != nil {
		s.Cost.Asset = n.asset.ID
		s.Cost.Amount, _ = n.ledger(d.Cost) // it was less than its cap
	}
	return s, nil
}
