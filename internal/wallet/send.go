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

// send broadcasts signed transactions that the network may not have, then signs the next
// payment. It reports whether it signed one.
func (w *Worker) send(ctx context.Context, health *chain.Health) (bool, error) {
	signed, moves := w.Board.Signed(w.ID), w.Board.GivenUpMoves(w.ID)
	if err := w.broadcast(ctx, signed, moves, health); err != nil {
		return false, err
	}
	state := w.Board.State(w.ID)
	if state.Tip == (bourse.BlockRef{}) || !w.synced {
		return false, nil
	}
	if state.Stopped() {
		return false, w.strand(ctx, w.unsigned())
	}

	if err := w.await(signed); err != nil {
		return false, err
	}
	overdue := w.age(signed, moves)
	if done, err := w.topUpAgain(ctx, moves); done || err != nil {
		return done, err
	}
	if done, err := w.payAll(ctx); done || err != nil {
		return done, err
	}
	if done, err := w.bump(ctx, overdue, moves); done || err != nil {
		return done, err
	}
	if w.Network.Shape().Sweeps {
		return w.sweep(ctx, signed, moves)
	}
	return w.cool(ctx)
}

// maxRefusals bounds the withdrawals of a step that the signer's limits refuse, or that the node cannot make.
// Each costs questions to node and signer: an account with enough money can have many wait for approvals, or
// go to contracts that refuse them.
const maxRefusals = 10

// payAll signs the next withdrawal that the signer lets pass. It reports whether it signed one, or has
// more to ask for.
func (w *Worker) payAll(ctx context.Context) (bool, error) {
	limited, unsigned := 0, w.unsigned()
	w.asked = w.transactions(len(unsigned))
	room := w.room()
	for i := range unsigned {
		wd := &unsigned[i]
		if !w.waiting[wd.ID] && !w.unmade[wd.ID] {
			if done, err := w.payWith(ctx, unsigned[i:], room); done || err != nil {
				return done, err
			}
		}
		if w.refusals >= maxRefusals {
			return true, nil
		}
		if w.beyond(wd) || w.waiting[wd.ID] {
			limited++
		}
	}

	clear(w.waiting)
	clear(w.unmade)
	clear(w.parted)
	forget(w.loners, unsigned)
	w.mu.Lock()
	w.limited = limited
	w.mu.Unlock()
	return false, w.strand(ctx, unsigned)
}

// unsigned returns the unsigned withdrawals. Replacements of dropped transactions go
// first, so that no other payment takes the output or nonce that they must share with
// them.
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

// instead returns the dropped transactions of withdrawals that could still be mined. A
// replacement must exclude each of them.
func (w *Worker) instead(to ...bourse.WalletID) []bourse.SignedTx {
	var list []bourse.SignedTx
	for _, s := range w.givenUp {
		if payees(to).of(&s) {
			list = append(list, s)
		}
	}
	return list
}

// excludes reports whether a chain with this transaction can hold none of the
// withdrawal's dropped ones.
func (w *Worker) excludes(s *bourse.SignedTx) bool {
	return !slices.ContainsFunc(w.instead(s.Wallet), func(old bourse.SignedTx) bool { return !s.Rivals(&old) })
}

// broadcast offers waiting transactions at each step, and once for each new head accepted ones, and given up sweeps and
// top-ups without another one in their place.
func (w *Worker) broadcast(ctx context.Context, signed, moves []bourse.SignedTx, health *chain.Health) error {
	again := health.Head != w.resent
	for i := range signed {
		s := &signed[i]
		if s.State == bourse.SignedWaiting || s.State == bourse.SignedAccepted && again {
			if err := w.offer(ctx, s); err != nil {
				return err
			}
		}
	}
	if again {
		if err := w.offerMoves(ctx, moves); err != nil {
			return err
		}
	}
	w.resent = health.Head
	return nil
}

// offer broadcasts a signed transaction and journals its acceptance.
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
	_, err = w.submit(ctx, bourse.CommandAccepted, &bourse.WalletCommand{Network: w.ID, Tx: s.Tx})
	return err
}

// pay signs and broadcasts a withdrawal. It reports whether it did; otherwise the
// withdrawal waits.
func (w *Worker) pay(ctx context.Context, wd *bourse.Withdrawal) (bool, error) {
	k := w.coins.byAsset[wd.Asset]
	if k == nil {
		return false, nil
	}
	amount, exact := k.units(wd.Amount)
	if !exact || amount.Hi >= mostHi {
		w.complain(wd.ID, "the amount cannot be moved", "finer or larger than its network moves",
			slog.Uint64("xid", uint64(wd.ID)))
		return false, nil
	}

	if w.beyond(wd) {
		return false, nil
	}
	p := chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: k.ID, Amount: amount,
		To: chain.Destination{Address: wd.Address, Memo: wd.Memo}, From: chain.IndexHot,
	}
	return w.payTo(ctx, &p, payees{wd.ID})
}

// payTo signs and broadcasts a payment of withdrawals. It reports whether it did; otherwise they wait.
func (w *Worker) payTo(ctx context.Context, p *chain.Payment, to payees) (bool, error) {
	fees, ready, err := w.ready(ctx, p, to)
	if !ready || err != nil {
		return false, err
	}
	return w.carryOut(ctx, p, fees, to, 0)
}

// beyond reports whether the signer's limits refuse a withdrawal at this step. Asking the
// signer for each would cost a call for every waiting withdrawal.
func (w *Worker) beyond(wd *bourse.Withdrawal) bool {
	k := w.coins.byAsset[wd.Asset]
	if k == nil {
		return false
	}
	least, some := w.spent[k.ID]
	amount, _ := k.units(wd.Amount)
	return w.costly || some && !amount.Less(least)
}

// ready gives a payment its nonce, and names the dropped transactions that it has to outbid. It returns the
// cost of such payments; ok is false while the payment has to wait.
func (w *Worker) ready(ctx context.Context, p *chain.Payment, to payees) (fees chain.Fees, ok bool, err error) {
	dropped := w.instead(to...)
	if !w.Network.Shape().Outputs {
		var free bool
		id := to.first()
		p.Nonce, free, err = w.nonce(ctx, p.From, id)
		if !free || err != nil || !w.excludes(&bourse.SignedTx{Wallet: id, From: p.From, Nonce: p.Nonce}) {
			return fees, false, err
		}
		dropped = w.Board.Dropped(w.ID, p.From, p.Nonce)
	}
	return w.outbid(ctx, p, dropped, to)
}

// outbid names the dropped transactions that a payment has to outbid. It returns the cost of such payments; ok is false
// while the payment has to wait.
func (w *Worker) outbid(
	ctx context.Context, p *chain.Payment, dropped []bourse.SignedTx, to payees,
) (fees chain.Fees, ok bool, err error) {
	dropped = newest(dropped)
	p.Replaces = raws(dropped)

	if len(p.Replaces) == 0 {
		fees, err = w.feesOf(ctx, p.Coin)
		return fees, err == nil, err
	}
	fees, err = w.Network.Outbid(ctx, p.Coin, p.Replaces)
	if err == nil || trouble(err) {
		return fees, err == nil, err
	}
	if len(to) > 0 {
		w.leave(w.unmade, to)
		w.refusals++
	}
	w.complain(dropped[0].Tx, "a given up transaction cannot be outbid", err.Error(), slog.Uint64("xid", uint64(to.first())))
	return fees, false, nil
}

// tellReplacement logs why no transaction takes the place of a dropped one of withdrawals, if there is one.
func (w *Worker) tellReplacement(to payees, why error) {
	if id := to.first(); len(w.instead(to...)) > 0 {
		w.complain(id, "a given up transaction cannot be outbid", why.Error(), slog.Uint64("xid", uint64(id)))
	}
}

// carryOut chooses the source of a payment, has it signed, journals and broadcasts it.
//
// depositor is the address to sweep or top up; zero for withdrawals.
func (w *Worker) carryOut(
	ctx context.Context, p *chain.Payment, fees chain.Fees, to payees, depositor uint32,
) (bool, error) {
	id := to.first()
	unsigned, enough, err := w.prepare(ctx, p, fees, to)
	if trouble(err) || !enough && err != nil {
		return false, err
	}
	if !enough && w.refusals < maxRefusals {
		w.tellReplacement(to, chain.ErrFunds)
	}
	if !enough {
		return false, nil
	}
	if err == nil && w.blurs(p, unsigned.Cost) {
		err = errBlurs
	}
	if err != nil {
		w.notMade(p, to, err)
		return false, nil
	}

	if ready, err := w.announce(ctx, p, to); !ready || err != nil {
		return false, err
	}
	signed := w.sign(ctx, unsigned, w.expect(p, to, depositor))
	if w.dear {
		w.dear, w.plain = false, true
		defer func() { w.plain = false }()
		return w.carryOut(ctx, p, fees, to, depositor)
	}
	if signed == nil {
		return false, nil
	}
	s, err := w.take(ctx, signed, p.Kind, id)
	if s == nil || err != nil {
		return false, err
	}
	for _, id := range to {
		delete(w.said, id)
	}
	return true, w.offerNew(ctx, s.Tx)
}

var errBlurs = errors.New("its cost could be all of its amount: it waits for lower fees")

// blurs reports whether a block could not tell the failure of a withdrawal from its payment. On networks of accounts
// the journal of older rules takes one for paid if at least its amount left, and the cost of a failed transaction
// leaves. A payment in place of another one is made all the same, because others wait for its nonce.
func (w *Worker) blurs(p *chain.Payment, cost bourse.Amount) bool {
	shape := w.Network.Shape()
	return p.Kind == bourse.SignedWithdrawal && !shape.Outputs && p.Coin == shape.Native && len(p.Replaces) == 0 && !cost.Less(p.Amount)
}

// offerNew broadcasts a transaction that was just journaled, if the journal lets it go.
func (w *Worker) offerNew(ctx context.Context, tx bourse.TxHash) error {
	for _, s := range w.Board.Signed(w.ID) {
		if s.Tx == tx && s.State == bourse.SignedWaiting {
			return w.offer(ctx, &s)
		}
	}
	return nil
}

// maxAttempts bounds a withdrawal's transactions.
const maxAttempts = 100

// sign has a payment signed; nil if the signer refuses. Attempts that the journal has are
// skipped: they were dropped.
func (w *Worker) sign(ctx context.Context, u chain.Unsigned, e signer.Expect) *signer.Signed {
	known := w.Board.State(w.ID).Record
	if len(e.With) > 0 {
		e.Known = known
		return w.signJoined(ctx, u, &e)
	}

	for ; e.Attempt < maxAttempts; e.Attempt++ {
		signed, err := w.Signer.Sign(ctx, u, e)
		switch {
		case w.enlarged && tooCostly(err):
			w.dear = true
			return nil
		case errors.Is(err, signer.ErrCosts):
			w.costly = true
		case errors.Is(err, signer.ErrSpent):
			w.spent[e.Coin] = e.Amount
		}
		if e.ID != 0 && errors.Is(err, signer.ErrLimit) {
			w.waiting[e.ID] = true
			w.refusals++
		}
		if errors.Is(err, signer.ErrRival) {
			w.leave(w.unexcluded, payees{e.ID})
			w.leave(w.unmade, payees{e.ID})
		}
		if err != nil {
			w.synced = w.synced && refused(err)
			w.complain(e.ID, "the signer refuses", err.Error(),
				slog.String("kind", e.Kind.String()), slog.Uint64("xid", uint64(e.ID)))
			return nil
		}

		if signed.Record > known+1 {
			w.synced = false // others signed meanwhile: their entries go first
			return nil
		}
		if signed.Record > known {
			return &signed
		}
	}
	return nil
}

// tooCostly reports whether the signer refuses a payment that might pass at a lower cost.
func tooCostly(err error) bool {
	if errors.Is(err, signer.ErrSpent) || errors.Is(err, signer.ErrUnapproved) {
		return errors.Is(err, signer.ErrCosts)
	}
	return errors.Is(err, signer.ErrLimit)
}

// source chooses the source of a payment; enough is false if the balance is too low.
func (w *Worker) source(
	ctx context.Context, p *chain.Payment, fees chain.Fees, to payees,
) (enough bool, err error) {
	p.CostCap = fees.Cost
	if w.Network.Shape().Outputs {
		return w.outbidOutputs(ctx, p, fees, to)
	}
	if p.Kind == bourse.SignedSweep {
		return true, nil
	}
	return w.covers(p, fees)
}

// ripe reports whether an output may be spent. A deposit needs the confirmations of its
// credit: in a reorganisation, a payment from it could leave the chain with it.
func (c *coin) ripe(u *bourse.Unspent, tip uint64) bool {
	return !bourse.AccountID(u.Address).IsCustomer() || u.Height+uint64(c.terms.Confirms) <= tip+1
}

// covers reports whether the hot wallet can make one more payment.
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

// bind adds up the unavailable balance of the hot wallet: its unmined payments, because a
// network may accept a payment without funds and fail it in a block; and recent sweeps,
// because they may leave the chain and return behind the payment.
func (w *Worker) bind(native chain.CoinID) error {
	bound, decoded := map[chain.CoinID]bourse.Amount{}, map[bourse.TxHash]chain.Decoded{}
	for _, s := range w.Board.Signed(w.ID) {
		waits, young := s.State != bourse.SignedMined && s.From == chain.IndexHot,
			s.Kind == bourse.SignedSweep && w.young(&s)
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

// depth returns the confirmations at which money of the network is settled: the most that a deposit
// of any coin is waited for. A chain that changes deeper takes credited deposits back and halts.
func (w *Worker) depth() (depth uint64) {
	for _, k := range w.coins.byID {
		depth = max(depth, uint64(k.terms.Confirms))
	}
	return depth
}

// young reports whether a mined transaction has too few confirmations to stay.
func (w *Worker) young(s *bourse.SignedTx) bool {
	return s.State == bourse.SignedMined && s.Block.Height+w.depth() > w.Board.State(w.ID).Tip.Height+1
}

// has reports whether the hot wallet's settled balance covers need.
func (w *Worker) has(id chain.CoinID, need bourse.Amount) bool {
	k := w.coins.byID[id]
	if k == nil {
		return false
	}
	var sum bourse.Amount
	for _, h := range w.Board.Holdings(w.ID, w.depth()) {
		if h.Address == chain.IndexHot && h.Asset == k.asset.ID {
			sum = h.Amount
		}
	}
	settled, some := sum.Sub(w.Board.Young(w.ID, chain.IndexHot, k.asset.ID))
	units, _ := k.units(settled)
	return some && !units.Less(need)
}

// nonce returns the nonce of an address's next payment: that of the withdrawal's own dropped transaction, else
// the lowest dropped one, if the chain still waits for it, else the next. ok is false while that one is
// promised to another payment: payments behind it would wait for it on the chain, and could not be
// taken back. A sweep has none while a block that is not read yet has one of the dropped ones: its money is moved.
func (w *Worker) nonce(ctx context.Context, from uint32, id bourse.WalletID) (nonce uint64, ok bool, err error) {
	next, gaps := w.Board.Nonce(w.ID, from)
	if len(gaps) == 0 {
		return next, w.free(ctx, from, next, id), nil
	}
	onChain, err := w.nonceOnChain(ctx, from)
	if err != nil {
		return 0, false, err
	}
	old := w.instead(id)
	own := len(old) > 0 && slices.Contains(gaps, old[0].Nonce)
	if own {
		gaps = []uint64{old[0].Nonce}
	}
	for _, gap := range gaps {
		if gap >= onChain {
			return gap, (own || !w.promised(from, gap)) && w.free(ctx, from, gap, id), nil
		}
	}
	if from != chain.IndexHot {
		return 0, false, nil
	}
	return next, w.free(ctx, from, next, id), nil
}

// nonceOnChain returns the nonce for which the chain waits, asked once a step.
func (w *Worker) nonceOnChain(ctx context.Context, from uint32) (uint64, error) {
	if nonce, asked := w.onChain[from]; asked {
		return nonce, nil
	}
	nonce, err := w.Network.Nonce(ctx, from)
	if err == nil {
		w.onChain[from] = nonce
	}
	return nonce, err
}

// free reports whether a payment may have the nonce of dropped transactions. The signer keeps a nonce for the
// withdrawal that it signed with it, and gives it back once that one was ended there.
func (w *Worker) free(ctx context.Context, from uint32, nonce uint64, id bourse.WalletID) bool {
	for _, s := range w.givenUp {
		if s.From == from && s.Nonce == nonce && s.Wallet != id {
			w.complain(s.Tx, "payments wait for a withdrawal whose nonce comes first", "its transaction was given up",
				slog.Uint64("xid", uint64(s.Wallet)))
			return false
		}
	}
	for _, old := range w.Board.Released(w.ID, from, nonce) {
		if old == id {
			continue
		}
		if err := w.Signer.Void(ctx, w.ID, old); err != nil {
			w.complain(old, "the signer does not end a withdrawal", err.Error(), slog.Uint64("xid", uint64(old)))
			return false
		}
		delete(w.said, old)
	}
	return true
}

var errEntry = errors.New("an entry that no journal takes")

// record returns the journal's record of a signed transaction, decoded from its bytes and
// not taken from the request.
func (w *Worker) record(signed *signer.Signed, kind bourse.SignedKind, id bourse.WalletID) (*bourse.SignedTx, error) {
	d, err := w.Network.Decode(signed.Raw)
	if err != nil {
		return nil, fmt.Errorf("what the signer signed: %w", err)
	}
	s := &bourse.SignedTx{
		Network: w.ID, Kind: kind, Wallet: id, Tx: signed.Hash, Raw: signed.Raw, From: d.From, Nonce: d.Nonce,
	}
	for i := range d.Inputs {
		s.Inputs = append(s.Inputs, d.Inputs[i].Outpoint)
	}
	if n := w.coins.native; n != nil {
		s.Cost.Asset = n.asset.ID
		s.Cost.Amount, _ = n.ledger(d.Cost) // at most its cap
		for i := range signed.Shares {
			amount, _ := n.ledger(signed.Shares[i].Amount) // zero is not valid
			s.Joined, s.Wallet = append(s.Joined, bourse.Share{Wallet: signed.Shares[i].ID, Amount: amount}), signed.Shares[0].ID
		}
	}
	if !d.Signed || d.Hash != signed.Hash || !s.Valid() || signed.Chain == (chain.Hash{}) ||
		len(s.Joined) != len(signed.Shares) {
		return nil, errEntry
	}
	return s, nil
}
