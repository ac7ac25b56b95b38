package devnet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// The control functions bypass the node's protocol: no request over a connection reaches
// them.

// maxMined bounds the blocks of one call.
const maxMined = 10_000

// Mine adds blocks, the first with the whole pool, and returns the head.
func (n *Node) Mine(count int) (chain.BlockRef, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if count < 1 || count > maxMined {
		return chain.BlockRef{}, bourse.Errorf(bourse.CodeInvalid, "mines 1 to %d blocks", maxMined)
	}
	err := n.mine(count)
	return n.head().ref(), err
}

// Head returns the last block.
func (n *Node) Head() chain.BlockRef {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.head().ref()
}

// Send pays from the outside world in one transaction, which joins the pool. All payments
// must be of one coin and, on networks with memos, to one memo.
func (n *Node) Send(pays ...chain.Pay) (chain.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.send(pays, sending{})
}

// SendFailing sends a payment that is mined and not executed: a token's contract returns
// false, gas runs out, or the sender's balance is too low.
func (n *Node) SendFailing(pay chain.Pay) (chain.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.params.Shape.Outputs {
		return chain.Hash{}, bourse.Errorf(bourse.CodeInvalid, "payments of outputs do not fail in blocks")
	}
	return n.send([]chain.Pay{pay}, sending{failing: true})
}

// SendHidden sends the native coin by the call of a contract: it arrives, and no block
// shows it, like ether that a contract forwards.
func (n *Node) SendHidden(pay chain.Pay) (chain.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.params.Shape.Sweeps || pay.Coin != n.params.Shape.Native {
		return chain.Hash{}, bourse.Errorf(bourse.CodeInvalid, "contracts forward the native coin, where there are any")
	}
	return n.send([]chain.Pay{pay}, sending{call: true})
}

// Hidden returns the part of an address's balance at the head that no block shows.
func (n *Node) Hidden(address string, coin chain.CoinID) bourse.Amount {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tip.hidden[holding{address, coin}]
}

// sending is how a payment of the outside world is made.
type sending struct{ failing, call bool }

func (n *Node) send(pays []chain.Pay, how sending) (chain.Hash, error) {
	t, err := n.pay(pays)
	if err != nil {
		return chain.Hash{}, err
	}
	t.Call = how.call
	if n.params.Shape.Outputs {
		err = n.payFromOutputs(t)
	} else {
		err = n.payFromAccount(t, how.failing)
	}
	if err != nil {
		return chain.Hash{}, err
	}
	n.outside.sign(t)
	n.sent++
	return n.accept(t.encode())
}

// pay validates payments and returns a transaction without a source.
func (n *Node) pay(pays []chain.Pay) (*transaction, error) {
	if len(pays) == 0 || len(pays) > maxOutputs {
		return nil, bourse.Errorf(bourse.CodeInvalid, "pays 1 to %d at once", maxOutputs)
	}

	t := &transaction{Network: n.params.Symbol, Memo: pays[0].To.Memo}
	if t.Memo != "" && n.params.Shape.MemoName == "" {
		return nil, bourse.Errorf(bourse.CodeInvalid, "this network has no memos")
	}
	if memo, err := chain.ParseMemo(t.Memo); err != nil || memo != t.Memo {
		return nil, errors.Join(bourse.Errorf(bourse.CodeInvalid, "not a memo"), err)
	}

	for _, pay := range pays {
		to, err := n.params.parseAddress(pay.To.Address)
		if err != nil {
			return nil, err
		}
		_, known := n.params.Shape.Coin(pay.Coin)
		if !known || pay.Amount.IsZero() || pay.Coin != pays[0].Coin || pay.To.Memo != t.Memo {
			return nil, bourse.Errorf(bourse.CodeInvalid, "pays one known coin, to one memo, and more than nothing")
		}
		t.Outputs = append(t.Outputs, output{n.params.formatAddress(to), pay.Coin, units(pay.Amount)})
	}

	if _, _, ok := t.sums(pays[0].Coin); !ok {
		return nil, bourse.Errorf(bourse.CodeInvalid, "more than there can be")
	}
	return t, nil
}

// payFromOutputs chooses inputs of the outside world and returns the change to the first
// of them.
func (n *Node) payFromOutputs(t *transaction) error {
	p, coin := n.params, t.Outputs[0].Coin
	_, out, _ := t.sums(coin)
	fees := chain.Fees{
		Cost: costOf(size(1, len(t.Outputs)+1), p.rate), PerInput: costOf(size(1, 0)-size(0, 0), p.rate),
	}
	inputs, cost, ok := chain.Select(n.ahead().unspent(n.wallets, coin), coin, p.Shape.Native, out, fees)
	if !ok {
		return fmt.Errorf("the outside world: %w", chain.ErrFunds)
	}
	p.spend(t, inputs, func(index uint32) string { return p.address(n.outside.Public(), index) })
	in, _, _ := t.sums(coin)
	if rest := in.Minus(out).Minus(cost); !rest.IsZero() {
		t.Outputs = append(t.Outputs, output{t.Inputs[0].Address, coin, units(rest)})
	}
	return nil
}

// spend adds inputs to a transaction.
func (p *Params) spend(t *transaction, inputs []chain.Input, address func(uint32) string) {
	for _, in := range inputs {
		t.Inputs = append(t.Inputs, input{digest(in.Tx), in.Index, address(in.Owner), in.Coin, units(in.Amount)})
		t.Witness = append(t.Witness, witness{Index: in.Owner})
	}
}

// payFromAccount pays from the outside world's wallets in turn.
func (n *Node) payFromAccount(t *transaction, failing bool) error {
	p, state := n.params, n.ahead()
	index := uint32(n.sent+n.head().Height) % wallets
	token := t.Outputs[0].Coin != p.Shape.Native
	_, out, _ := t.sums(t.Outputs[0].Coin)
	poor := p.address(n.outside.Public(), poorWallet)
	short := token || p.lenient && state.balance(poor, p.Shape.Native).Less(out)
	if failing && short {
		index = poorWallet
	}

	t.From = p.address(n.outside.Public(), index)
	t.Nonce, t.Price = state.nonces[t.From], p.rate
	t.Witness = []witness{{Index: index}}
	t.Gas = state.gas(t)
	if failing && !short {
		t.Gas = p.gasBase // below the required gas
	}
	if !failing && state.balance(t.From, t.Outputs[0].Coin).Less(out) {
		return fmt.Errorf("the outside world: %w", chain.ErrFunds)
	}
	return nil
}

// NewAddress returns an unused address of the outside world.
func (n *Node) NewAddress() (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	address := n.params.address(n.outside.Public(), firstReceiver+n.receiver)
	return address, n.commit(&record{Given: true})
}

// Balance returns an address's balance of a coin, at the head.
func (n *Node) Balance(address string, coin chain.CoinID) (bourse.Amount, error) {
	to, err := n.params.parseAddress(address)
	if err != nil {
		return bourse.Amount{}, err
	}
	if _, ok := n.params.Shape.Coin(coin); !ok {
		return bourse.Amount{}, bourse.Errorf(bourse.CodeInvalid, "coin is not known")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tip.balance(n.params.formatAddress(to), coin), nil
}

// Reorg replaces the last depth blocks by depth+1 empty ones. Their transactions return
// to the pool in front, last first, or are dropped if drop is set.
func (n *Node) Reorg(depth int, drop bool) (chain.BlockRef, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if depth < 1 || uint64(depth) >= n.head().Height {
		return chain.BlockRef{}, bourse.Errorf(bourse.CodeInvalid, "a depth of 1 to %d", n.head().Height-1)
	}

	height := n.head().Height - uint64(depth)
	pool := n.waiting()
	if !drop {
		left := n.above(height)
		slices.Reverse(left)
		pool = append(left, pool...)
	}
	err := n.rewrite(height, pool)
	return n.head().ref(), err
}

// above returns the transactions in the blocks above a height, in order.
func (n *Node) above(height uint64) [][]byte {
	var raws [][]byte
	for _, b := range n.blocks[height+1:] {
		for i := range b.Txs {
			raws = append(raws, b.Txs[i].Raw)
		}
	}
	return raws
}

// rewrite replaces the blocks above a height by empty ones, one more than there were, and
// sets the pool.
func (n *Node) rewrite(height uint64, pool [][]byte) error {
	time := max(int64(n.options.Clock()), n.blocks[height].Time)
	empty := slices.Repeat([]int64{time}, int(n.head().Height-height)+1)
	return n.commit(&record{Cut: &height, Empty: empty, Pool: &pool})
}

// Restore returns dropped transactions to the pool, if they can still be executed.
func (n *Node) Restore() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	pool := n.waiting()
	for _, d := range n.dropped {
		if !n.known(d.hash) {
			pool = append(pool, d.raw)
		}
	}
	return n.commit(&record{Pool: &pool})
}

// Forget drops a transaction from the pool, as nodes do with unmined ones.
func (n *Node) Forget(hash chain.Hash) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.waits(hash)
	if w == nil {
		return bourse.Errorf(bourse.CodeNotFound, "this transaction does not wait")
	}
	pool := without(n.waiting(), w.effects.Raw)
	return n.commit(&record{Pool: &pool})
}

func without(raws [][]byte, raw []byte) [][]byte {
	return slices.DeleteFunc(raws, func(other []byte) bool { return string(other) == string(raw) })
}

// DoubleSpend adds a conflicting payment of the outside world to the pool. If the
// original is mined, its block and all above are reorganised away; their other
// transactions return to the pool.
func (n *Node) DoubleSpend(hash chain.Hash) (chain.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	raw, height := n.find(hash)
	if raw == nil {
		return chain.Hash{}, bourse.Errorf(bourse.CodeNotFound, "this transaction is not known")
	}

	t, err := n.params.parseTx(raw)
	if err != nil {
		return chain.Hash{}, err
	}
	if err := n.contradict(t); err != nil {
		return chain.Hash{}, err
	}

	if height == 0 {
		pool := append([][]byte{t.encode()}, without(n.waiting(), raw)...)
		return t.hash(), n.commit(&record{Pool: &pool})
	}
	pool := slices.Concat([][]byte{t.encode()}, without(n.above(height-1), raw), n.waiting())
	return t.hash(), n.rewrite(height-1, pool)
}

// find returns the bytes of a transaction, and its height if it is mined.
func (n *Node) find(hash chain.Hash) ([]byte, uint64) {
	if w := n.waits(hash); w != nil {
		return w.effects.Raw, 0
	}
	height := n.where[hash]
	if height <= 1 {
		return nil, 0
	}
	for i := range n.blocks[height].Txs {
		if m := &n.blocks[height].Txs[i]; chain.Hash(m.Hash) == hash {
			return m.Raw, height
		}
	}
	return nil, 0
}

// contradict changes a payment into another one with the same inputs or nonce, which pays
// everything back to the payer.
func (n *Node) contradict(t *transaction) error {
	payer := t.payers()[0]
	if _, ours := n.wallets[payer]; !ours && t.Witness[0].Index != poorWallet {
		return bourse.Errorf(bourse.CodeInvalid, "not a payment of the outside world's")
	}

	coin := t.Outputs[0].Coin
	back := output{payer, coin, units(bourse.Units(1))}
	if n.params.Shape.Outputs {
		in, _, _ := t.sums(coin)
		rest, ok := in.Sub(costOf(size(len(t.Inputs), 1), n.params.rate))
		if !ok || rest.IsZero() {
			return fmt.Errorf("too little to spend again: %w", chain.ErrFunds)
		}
		back.Amount = units(rest)
	}
	t.Outputs, t.Memo, t.Call = []output{back}, "", false
	n.outside.sign(t)
	return nil
}

// Lag hides the last blocks from clients, like a node that is behind. The node reports
// that it is syncing, unless silent is set. Zero ends the lag.
func (n *Node) Lag(blocks uint64, silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lag, n.silent = blocks, silent
}
