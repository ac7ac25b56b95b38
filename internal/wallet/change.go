package wallet

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

const (
	// DefaultOutputs is the usual number of Options.Outputs.
	DefaultOutputs = 50
	// MaxOutputs bounds it: each payment looks through all outputs.
	MaxOutputs = 2000
	// manySmall times Options.Outputs is the number of small outputs above which payments spend some of them besides,
	// and merged is how many.
	manySmall, merged = 4, 20
)

// arrange splits the change of a payment where outputs are few, and has it spend small ones where they are many, so
// that as many payments as wait find outputs in blocks. An output is small if it does not cover the least withdrawal
// and its cost. A part of split change covers ten of those, and a small output that is spent besides is worth ten times
// what that costs.
func (w *Worker) arrange(p *chain.Payment, fees chain.Fees, free []chain.Input) {
	k := w.coins.byID[p.Coin]
	minimum, _ := k.units(k.terms.MinWithdrawal)
	least := minimum.PlusOrMax(fees.Cost)

	if small := mergeable(p, fees, free, least); len(small) > manySmall*w.Outputs {
		small = w.unclaimed(small[:min(len(small), chain.MaxInputs)])
		small = small[:min(len(small), merged, chain.MaxInputs-len(p.Inputs))]
		p.Inputs = slices.Concat(p.Inputs, small)
		w.enlarge(p, fees.PerInput, len(small))
	}

	others := w.others(k, p.Inputs)
	large := slices.IndexFunc(others, func(a bourse.Amount) bool { return a.Less(least) })
	if large < 0 {
		large = len(others)
	}
	parts := min(max(w.Outputs, min(w.asked, MaxOutputs))-large, chain.MaxChange)
	for parts > 1 && !leavesHalf(p, others, parts) {
		parts /= 2
	}
	part, fits := least.Mul(worthwhile)
	if parts <= 1 || !fits {
		return
	}
	p.Change, p.LeastChange = parts, part
	w.enlarge(p, fees.PerChange, parts-1)
}

// enlarge raises a payment's CostCap by a number of equal costs.
func (w *Worker) enlarge(p *chain.Payment, each bourse.Amount, times int) {
	for range times {
		p.CostCap = p.CostCap.PlusOrMax(each)
	}
	w.enlarged = w.enlarged || times > 0
}

// mergeable returns the free outputs below least that a payment may spend besides its own, largest first.
func mergeable(p *chain.Payment, fees chain.Fees, free []chain.Input, least bourse.Amount) []chain.Input {
	worth, fits := fees.PerInput.Mul(worthwhile)
	small := slices.DeleteFunc(slices.Clone(free), func(in chain.Input) bool {
		return in.Coin != p.Coin || !fits || in.Amount.Less(worth) || !in.Amount.Less(least) || spends(p.Inputs, in.Outpoint)
	})
	slices.SortFunc(small, chain.LargestFirst)
	return small
}

// unclaimed returns the inputs that no released transaction spends: a payment would have to outbid it.
func (w *Worker) unclaimed(inputs []chain.Input) []chain.Input {
	rivals := w.Board.DroppedFrom(w.ID, inputs)
	return slices.DeleteFunc(inputs, func(in chain.Input) bool {
		return slices.ContainsFunc(rivals, func(s bourse.SignedTx) bool { return slices.Contains(s.Inputs, in.Outpoint) })
	})
}

func spends(inputs []chain.Input, at bourse.Outpoint) bool {
	return slices.ContainsFunc(inputs, func(in chain.Input) bool { return in.Outpoint == at })
}

// others returns the amounts of a coin's outputs without some of them, largest first: those that are free, and change
// of payments that wait for a block.
func (w *Worker) others(k *coin, without []chain.Input) (amounts []bourse.Amount) {
	for _, u := range w.Board.Unspent(w.ID) {
		if in, exact := k.input(&u); u.Asset == k.asset.ID && exact && !spends(without, u.Outpoint) {
			amounts = append(amounts, in.Amount)
		}
	}
	for _, change := range w.change {
		for _, p := range change {
			if p.Coin == k.ID {
				amounts = append(amounts, p.Amount)
			}
		}
	}
	slices.SortFunc(amounts, largest)
	return amounts
}

// largest orders amounts, the largest first.
func largest(a, b bourse.Amount) int { return b.Cmp(a) }

// leavesHalf reports whether half of the coins, or more, are on as many outputs as one payment spends, once a payment
// splits its change. Without this bound a withdrawal of a quarter of the hot wallet would find no outputs that cover
// it, and wait forever.
func leavesHalf(p *chain.Payment, others []bourse.Amount, parts int) bool {
	var spent, all, most bourse.Amount
	for i := range p.Inputs {
		spent = spent.PlusOrMax(p.Inputs[i].Amount)
	}
	change, _ := spent.Sub(p.Total())
	first, each := chain.Split(change, parts)
	amounts := append(slices.Repeat([]bourse.Amount{each}, parts-1), first)
	amounts = append(amounts, others...)
	slices.SortFunc(amounts, largest)

	for i, a := range amounts {
		if all = all.PlusOrMax(a); i == chain.MaxInputs-1 {
			most = all
		}
	}
	return len(amounts) <= chain.MaxInputs || !most.PlusOrMax(most).Less(all)
}

// await notes the change of the payments that wait for a block.
func (w *Worker) await(signed []bourse.SignedTx) error {
	if w.Outputs == 0 || !w.Network.Shape().Outputs {
		return nil
	}
	before := w.change
	w.change = make(map[bourse.TxHash][]chain.Pay, len(before)+1)
	for i := range signed {
		s := &signed[i]
		if s.State == bourse.SignedMined {
			continue
		}
		change, known := before[s.Tx]
		if !known {
			var err error
			if change, err = w.changeOf(s.Raw); err != nil {
				return err
			}
		}
		w.change[s.Tx] = change
	}
	return nil
}

// changeOf returns the outputs of change of a transaction.
func (w *Worker) changeOf(raw []byte) ([]chain.Pay, error) {
	d, err := w.Network.Decode(raw)
	if err != nil {
		return nil, err
	}
	change := w.Network.Destination(chain.IndexChange).Address
	return slices.DeleteFunc(d.Pays, func(p chain.Pay) bool { return p.To.Address != change }), nil
}

// mostChange returns the highest number of outputs of change that one of some transactions has; zero on networks of
// accounts.
func (w *Worker) mostChange(all ...[]byte) (most int, err error) {
	if !w.Network.Shape().Outputs {
		return 0, nil
	}
	for _, raw := range all {
		change, err := w.changeOf(raw)
		if err != nil {
			return 0, err
		}
		most = max(most, len(change))
	}
	return most, nil
}
