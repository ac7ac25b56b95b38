package devnet

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// bump is the part of the price that a replacement on networks of accounts must add: one of this many.
const bump = 10

// price is the price that blocks take at the moment.
func (n *Node) price() uint64 { return n.params.rate * max(n.dear, 1) }

// Spike multiplies the price that blocks take. Cheaper payments wait in the pool. One ends it.
func (n *Node) Spike(times uint64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if times < 1 || times > maxRate {
		return bourse.Errorf(bourse.CodeInvalid, "multiplies by 1 to %d", maxRate)
	}
	n.dear = times
	return nil
}

// chosen returns the payments of the pool that the next block takes, in order: all, or those that pay
// the price of a spike and need none that does not.
func (n *Node) chosen() (list []mined) {
	if n.dear <= 1 {
		for _, w := range n.pool {
			list = append(list, *w.effects)
		}
		return list
	}

	state := n.tip.clone()
	for _, w := range n.pool {
		if !n.params.pays(w.tx, n.price()) {
			continue
		}
		if effects, err := state.execute(w.tx); err == nil {
			state.follow(effects)
			list = append(list, *effects)
		}
	}
	return list
}

// pays reports whether a payment pays a price.
func (p *Params) pays(t *transaction, price uint64) bool {
	if !p.Shape.Outputs {
		return t.Price >= price
	}
	cost, err := p.costOfTx(t)
	return err == nil && !cost.Less(costOf(size(len(t.Inputs), len(t.Outputs)), price))
}

// relay is the price of a unit that a replacement pays beyond what it replaces, on networks of outputs.
func (p *Params) relay() uint64 { return p.rate/leastShare + 1 }

// highest returns the highest price of a unit that a replacement pays.
func (p *Params) highest() uint64 {
	if p.Shape.Outputs {
		return p.rate * maxRate
	}
	return chain.OverCap * p.rate * maxRate
}

// higher returns the least price at which a payment with the same inputs or nonce replaces another one.
func (p *Params) higher(t *transaction) (uint64, bool) {
	if !p.Shape.Outputs {
		return t.Price + t.Price/bump + 1, t.Price < p.highest()
	}
	cost, err := p.costOfTx(t)
	if err != nil || cost.Hi > 0 {
		return 0, false
	}
	units := size(len(t.Inputs), len(t.Outputs))
	return cost.Lo/units + 1 + p.relay(), true
}

// replacement returns the pool in which a transaction has the place of those that it excludes, and of those that
// need them; nil if it excludes none, or the network replaces none. It fails unless the transaction pays enough
// more, and can be executed there.
func (n *Node) replacement(t *transaction) ([][]byte, error) {
	if !n.params.Shape.Replaces {
		return nil, nil
	}
	pool, out := n.without(t)
	if len(out) == 0 {
		return nil, nil
	}
	if !n.outbids(t, out) {
		return nil, errOutbid
	}

	// It goes where the first of them was, on the state that was there.
	state, at := n.tip.clone(), len(n.pool)-1
	for i, w := range n.pool {
		if w == out[0] {
			at = i
			break
		}
		state.follow(w.effects)
	}
	if slices.Contains(n.pool, out[0]) {
		if _, err := state.execute(t); err != nil {
			return nil, err
		}
	}
	return slices.Insert(pool, min(max(at, 0), len(pool)), t.encode()), nil
}

// without splits the pool and the gaps: what stays beside a transaction, and what it excludes, or what spends
// an output of that.
func (n *Node) without(t *transaction) (stay [][]byte, out []*pending) {
	gone := map[chain.Outpoint]bool{}
	for i := range t.Inputs {
		gone[t.Inputs[i].outpoint()] = true
	}
	for _, w := range slices.Concat(n.pool, n.gaps) {
		same := t.From != "" && w.tx.From == t.From && w.tx.Nonce == t.Nonce
		spends := slices.ContainsFunc(w.tx.Inputs, func(in input) bool { return gone[in.outpoint()] })
		if !same && !spends {
			stay = append(stay, w.effects.Raw)
			continue
		}
		out = append(out, w)
		for i := range w.tx.Outputs {
			gone[chain.Outpoint{Tx: w.hash(), Index: uint32(i)}] = true
		}
	}
	return stay, out
}

// outbids reports whether a transaction pays enough more than those that it replaces: a tenth of the price, or
// all their costs and that of its own way through the network.
func (n *Node) outbids(t *transaction, out []*pending) bool {
	if !n.params.Shape.Outputs {
		least, ok := n.params.higher(out[0].tx)
		return ok && t.Price >= least
	}
	need := costOf(size(len(t.Inputs), len(t.Outputs)), n.params.relay())
	for _, w := range out {
		cost, err := n.params.costOfTx(w.tx)
		if err != nil {
			return false
		}
		need = need.PlusOrMax(cost)
	}
	cost, err := n.params.costOfTx(t)
	return err == nil && !cost.Less(need)
}
