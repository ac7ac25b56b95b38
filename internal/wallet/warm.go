package wallet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var (
	errNoCold    = bourse.Errorf(bourse.CodeRefused, "the settings of the network name no cold storage")
	errWarmWaits = bourse.Errorf(bourse.CodeRefused,
		"a move from cold storage waits for its block; `network end-psbt` gives it up, and the next draft takes its place")
	errNoNative = bourse.Errorf(bourse.CodeRefused, "the catalogue does not list the network's coin")
)

// Draft is a transaction from cold storage, for people to sign.
type Draft struct {
	Asset bourse.AssetID
	// Amount arrives at the hot wallet, and Cost is the network's, in ledger units.
	Amount, Cost bourse.Amount
	PSBT         []byte
}

// Draft returns a transaction that moves an amount, in whole coins, from cold storage to the hot wallet. Nothing is
// reserved: outputs of it may be spent before it is signed. It outbids those that were given up, and spends an
// output of each. It is safe for concurrent use.
func (w *Worker) Draft(ctx context.Context, amount string) (*Draft, error) {
	network, k, err := w.coldStorage()
	if err != nil {
		return nil, err
	}
	asked, err := bourse.ParseAmount(amount, k.asset.Scale)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeInvalid, "amount: %v", err)
	}
	units, exact := k.units(asked)
	if !exact || units.Hi >= mostHi || units.IsZero() {
		return nil, bourse.Errorf(bourse.CodeInvalid, "the network does not move %s", amount)
	}

	waits := func(s bourse.SignedTx) bool { return s.Kind == bourse.SignedWarm && s.State != bourse.SignedDropped }
	if slices.ContainsFunc(w.Board.mayMove(w.ID, uint64(k.terms.Confirms)), waits) {
		return nil, errWarmWaits
	}

	inputs, has := w.chilled(k)
	rivals := slices.DeleteFunc(w.Board.GivenUpWarms(w.ID, uint64(k.terms.Confirms)), func(s bourse.SignedTx) bool {
		// A block has another transaction with all of its outputs.
		return !slices.ContainsFunc(inputs, func(in chain.Input) bool { return slices.Contains(s.Inputs, in.Outpoint) })
	})
	p := &chain.Payment{
		Kind: bourse.SignedWarm, Coin: k.ID, Amount: units, To: w.Network.Destination(chain.IndexHot), Inputs: inputs,
		Replaces: raws(rivals), // all of them, or the journal refuses it
	}
	d, err := network.Draft(ctx, p)
	switch {
	case errors.Is(err, chain.ErrFunds):
		return nil, bourse.Errorf(bourse.CodeRefused,
			"cold storage has %s %s that no transaction spends, and the cost comes on top", has.Format(k.asset.Scale), k.asset.Symbol)
	case errors.Is(err, chain.ErrCost):
		return nil, bourse.Errorf(bourse.CodeRefused, "it would have to outbid one that was given up, above the fees' cap of the settings")
	case err != nil:
		return nil, explain(err)
	}
	cost, _ := k.ledger(d.Cost)
	return &Draft{Asset: k.asset.ID, Amount: asked, Cost: cost, PSBT: d.PSBT}, nil
}

// FromCold reads what people signed, and returns it as the journal takes it. It is safe for concurrent use.
func (w *Worker) FromCold(signed []byte) (*bourse.SignedTx, error) {
	network, k, err := w.coldStorage()
	if err != nil {
		return nil, err
	}
	inputs, _ := w.chilled(k)
	raw, err := network.FromCold(signed, func(at chain.Outpoint) (chain.Input, bool) {
		i := slices.IndexFunc(inputs, func(in chain.Input) bool { return in.Outpoint == at })
		if i < 0 {
			return chain.Input{}, false
		}
		return inputs[i], true
	})
	if err != nil {
		return nil, explain(err)
	}
	d, err := w.Network.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("what was read from people: %w", err)
	}

	s := &bourse.SignedTx{Network: w.ID, Kind: bourse.SignedWarm, Tx: d.Hash, Raw: raw}
	for i := range d.Inputs {
		s.Inputs = append(s.Inputs, d.Inputs[i].Outpoint)
	}
	s.Cost.Asset = k.asset.ID
	s.Cost.Amount, _ = k.ledger(d.Cost)
	if !d.Signed || !s.Valid() {
		return nil, errEntry
	}
	return s, nil
}

// explain makes an error about what people sent one that they see; those of the node stay the exchange's.
func explain(err error) error {
	if known := new(bourse.Error); trouble(err) || errors.As(err, &known) {
		return err
	}
	return bourse.Errorf(bourse.CodeRefused, "%v", err)
}

// coldStorage returns the network's cold storage and its coin.
func (w *Worker) coldStorage() (chain.ColdStorage, *coin, error) {
	network, has := w.Network.(chain.ColdStorage)
	shape := w.Network.Shape()
	if !has || shape.Cold == 0 {
		return nil, nil, errNoCold
	}
	_, terms, assets := w.Listed.Listed(w.ID)
	k := newCoins(shape, terms, assets).native
	if k == nil {
		return nil, nil, errNoNative
	}
	return network, k, nil
}

// chilled returns the free outputs of cold storage, those of transactions that were given up first, and then the
// largest; and their sum.
func (w *Worker) chilled(k *coin) (inputs []chain.Input, has bourse.Amount) {
	list, promised := w.Board.FreeCold(w.ID, w.Network.Shape().Cold), map[bourse.Outpoint]bool{}
	for _, s := range w.Board.GivenUpWarms(w.ID, uint64(k.terms.Confirms)) {
		for _, at := range s.Inputs {
			promised[at] = true
		}
	}
	slices.SortFunc(list, func(p, q bourse.Unspent) int {
		if promised[p.Outpoint] != promised[q.Outpoint] {
			if promised[p.Outpoint] {
				return -1
			}
			return 1
		}
		return cmp.Or(q.Amount.Cmp(p.Amount), p.Tx.Compare(q.Tx), cmp.Compare(p.Index, q.Index))
	})
	for i := range list {
		if in, exact := k.input(&list[i]); exact && list[i].Asset == k.asset.ID {
			inputs = append(inputs, in)
			has = has.PlusOrMax(list[i].Amount)
		}
	}
	return inputs, has
}

// FreeCold returns the outputs of a cold storage that no transaction spends, in no order.
func (b *Board) FreeCold(id bourse.NetworkID, first uint32) (list []bourse.Unspent) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if n := b.networks[id]; n != nil {
		for _, u := range n.cold[first] {
			if u.By == (bourse.TxHash{}) {
				list = append(list, u)
			}
		}
	}
	return list
}

// GivenUpWarms returns the transactions from cold storage that were given up and may be mined, ordered by hash.
func (b *Board) GivenUpWarms(id bourse.NetworkID, deep uint64) []bourse.SignedTx {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	return n.droppedThat(func(s *bourse.SignedTx) bool { return s.Kind == bourse.SignedWarm && !n.decided(s, deep) })
}

// ColdMove is a transaction to or from cold storage that is in no block and may be mined.
type ColdMove struct {
	Kind  bourse.SignedKind
	Tx    bourse.TxHash
	State bourse.SignedState
}

// ColdMoves returns the transactions to and from cold storage that may be mined, ordered by hash. Those that were given up
// count until a block that is deep enough excludes them. It is safe for concurrent use.
func (w *Worker) ColdMoves() (list []ColdMove) {
	_, k, err := w.coldStorage()
	if err != nil {
		return nil
	}
	for _, s := range w.Board.mayMove(w.ID, uint64(k.terms.Confirms)) {
		list = append(list, ColdMove{s.Kind, s.Tx, s.State})
	}
	slices.SortFunc(list, func(p, q ColdMove) int { return p.Tx.Compare(q.Tx) })
	return list
}

// mayMove returns the transactions to and from cold storage that are in no block and may be mined: one that was given up
// may, unless another one of ours that is deep enough excludes it.
func (b *Board) mayMove(id bourse.NetworkID, deep uint64) (list []bourse.SignedTx) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return nil
	}
	for _, txs := range [...]map[bourse.TxHash]bourse.SignedTx{n.signed, n.dropped} {
		for _, s := range txs {
			moves := s.Kind == bourse.SignedCool || s.Kind == bourse.SignedWarm
			if moves && s.State != bourse.SignedMined && !n.decided(&s, deep) {
				list = append(list, s)
			}
		}
	}
	return list
}
