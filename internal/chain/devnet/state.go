package devnet

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// holding identifies a balance: an address and a coin.
type holding struct {
	address string
	coin    chain.CoinID
}

// state is the ledger after a block.
type state struct {
	params *Params
	// outputs are the unspent outputs, on networks of outputs.
	outputs map[chain.Outpoint]output
	// balances and nonces belong to networks of accounts. No entry is zero.
	balances map[holding]bourse.Amount
	nonces   map[string]uint64
	// hidden is the part of balances that no block showed. The exchange
	// does not know of it and never spends it.
	hidden map[holding]bourse.Amount
}

func newState(p *Params) *state {
	return &state{
		params: p, outputs: map[chain.Outpoint]output{}, balances: map[holding]bourse.Amount{},
		nonces: map[string]uint64{}, hidden: map[holding]bourse.Amount{},
	}
}

func (s *state) clone() *state {
	return &state{
		params: s.params, outputs: maps.Clone(s.outputs), balances: maps.Clone(s.balances),
		nonces: maps.Clone(s.nonces), hidden: maps.Clone(s.hidden),
	}
}

// balance returns an address's balance of a coin.
func (s *state) balance(address string, coin chain.CoinID) (sum bourse.Amount) {
	for _, out := range s.outputs {
		if out.Address == address && out.Coin == coin {
			sum = sum.Plus(bourse.Amount(out.Amount))
		}
	}
	return sum.Plus(s.balances[holding{address, coin}])
}

// unspent returns a coin's unspent outputs at addresses, with the addresses' indices, in
// a fixed order.
func (s *state) unspent(at map[string]uint32, coin chain.CoinID) []chain.Input {
	var list []chain.Input
	for point, out := range s.outputs {
		if index, ok := at[out.Address]; ok && out.Coin == coin {
			list = append(list, chain.Input{
				Outpoint: point, Owner: index, Coin: out.Coin, Amount: bourse.Amount(out.Amount),
			})
		}
	}
	slices.SortFunc(list, func(a, b chain.Input) int {
		return cmp.Or(a.Tx.Compare(b.Tx), cmp.Compare(a.Index, b.Index))
	})
	return list
}

// Reasons why a transaction cannot be executed now.
var (
	errInputs   = errors.New("an input is missing or spent")
	errCheap    = errors.New("pays less than the least fee")
	errFunds    = errors.New("insufficient funds")
	errNonceLow = errors.New("nonce too low")
	errNonceGap = errors.New("nonce too high")
)

// execute returns the effects of a transaction on a state, without applying them.
func (s *state) execute(t *transaction) (*mined, error) {
	m := &mined{Hash: digest(t.hash()), Raw: t.encode()}
	if s.params.Shape.Outputs {
		return m, s.executeOutputs(t, m)
	}
	return m, s.executeAccount(t, m)
}

func (s *state) executeOutputs(t *transaction, m *mined) error {
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if out, ok := s.outputs[in.outpoint()]; !ok || out != (output{in.Address, in.Coin, in.Amount}) {
			return errInputs
		}
		m.Taken = append(m.Taken, taken{
			Address: in.Address, Coin: in.Coin, Amount: in.Amount, Tx: in.Tx, Index: in.Index,
		})
	}

	cost, err := s.params.costOfTx(t)
	if err != nil {
		return err
	}
	least := costOf(size(len(t.Inputs), len(t.Outputs)), s.params.rate)
	if least, _ = least.Div64(leastShare); cost.Less(least) {
		return errCheap
	}
	for i, out := range t.Outputs {
		m.Given = append(m.Given, given{Index: uint32(i), Address: out.Address, Coin: out.Coin, Amount: out.Amount})
	}
	return nil
}

// leastShare divides the usual fee: a node accepts a tenth of it.
const leastShare = 10

func (s *state) executeAccount(t *transaction, m *mined) error {
	switch nonce := s.nonces[t.From]; {
	case t.Nonce < nonce:
		return errNonceLow
	case t.Nonce > nonce:
		return errNonceGap
	case t.Price < s.params.rate:
		return errCheap
	}

	native := s.params.Shape.Native
	has := s.balance(t.From, native)
	left, ok := has.Sub(costOf(t.Gas, t.Price))
	if !ok {
		return errFunds
	}

	_, out, _ := t.sums(native)
	poor := left.Less(out)
	if poor && !s.params.lenient {
		return errFunds
	}

	gas := s.gas(t)
	m.Failed = poor || gas > t.Gas
	m.take(t.From, native, costOf(min(gas, t.Gas), t.Price))
	if !m.Failed {
		s.deliver(t, m)
	}
	return nil
}

// deliver adds the effects of the messages. A message beyond the sender's balance of a
// token is left out: its contract returned false, and nothing else failed.
func (s *state) deliver(t *transaction, m *mined) {
	spent := map[chain.CoinID]bourse.Amount{}
	for i, out := range t.Outputs {
		amount := bourse.Amount(out.Amount)
		sum := spent[out.Coin].Plus(amount)
		if out.Coin != s.params.Shape.Native && s.balance(t.From, out.Coin).Less(sum) {
			continue
		}
		spent[out.Coin] = sum
		m.take(t.From, out.Coin, amount)
		if t.Call {
			continue
		}
		m.Given = append(m.Given, given{uint32(i), out.Address, t.Memo, out.Coin, out.Amount})
	}
}

// gas returns the gas of a payment's execution.
func (s *state) gas(t *transaction) uint64 {
	p := s.params
	gas := p.gasBase
	for _, out := range t.Outputs {
		switch {
		case out.Coin == p.Shape.Native:
			gas += p.gasCoin
		case s.balance(out.Address, out.Coin).IsZero():
			gas += p.gasToken + p.gasToken/2
		default:
			gas += p.gasToken
		}
	}
	return gas
}

// follow applies a mined transaction.
func (s *state) follow(m *mined) {
	if s.params.Shape.Outputs {
		for _, t := range m.Taken {
			delete(s.outputs, chain.Outpoint{Tx: chain.Hash(t.Tx), Index: t.Index})
		}
		for _, g := range m.Given {
			s.outputs[chain.Outpoint{Tx: chain.Hash(m.Hash), Index: g.Index}] = output{g.Address, g.Coin, g.Amount}
		}
		return
	}

	for _, t := range m.Taken {
		s.set(holding{t.Address, t.Coin}, s.balances[holding{t.Address, t.Coin}].Minus(bourse.Amount(t.Amount)))
	}
	for _, g := range m.Given {
		s.set(holding{g.Address, g.Coin}, s.balances[holding{g.Address, g.Coin}].Plus(bourse.Amount(g.Amount)))
	}

	if len(m.Raw) > 0 {
		t, err := s.params.parseTx(m.Raw)
		if err != nil {
			bourse.Impossible("a mined transaction: %v", err)
		}
		s.nonces[t.From] = t.Nonce + 1
		s.call(t, m)
	}
}

// call applies the payments of a contract, which are not among the effects.
func (s *state) call(t *transaction, m *mined) {
	if !t.Call || m.Failed {
		return
	}
	for _, out := range t.Outputs {
		h := holding{out.Address, out.Coin}
		s.set(h, s.balances[h].Plus(bourse.Amount(out.Amount)))
		s.hidden[h] = s.hidden[h].Plus(bourse.Amount(out.Amount))
	}
}

func (s *state) set(h holding, a bourse.Amount) {
	if a.IsZero() {
		delete(s.balances, h)
		return
	}
	s.balances[h] = a
}
