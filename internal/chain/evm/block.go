package evm

import (
	"bytes"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// fullBlock is a block with its transactions, as a node answers it.
type fullBlock struct {
	header
	Txs []transaction `json:"transactions"`
}

// describe returns an odd answer about a block.
func describe(height uint64, format string, args ...any) error {
	return odd("block %d: %s", height, fmt.Sprintf(format, args...))
}

// check checks a block and its receipts against the hash of its header.
func (b *fullBlock) check(receipts []receipt) error {
	if err := b.header.check(); err != nil {
		return err
	}
	height := b.height()
	if len(receipts) != len(b.Txs) {
		return describe(height, "%d receipts of %d transactions", len(receipts), len(b.Txs))
	}

	txs, outcomes := make([][]byte, len(b.Txs)), make([][]byte, len(b.Txs))
	for i := range b.Txs {
		t, r := &b.Txs[i], &receipts[i]
		raw, err := t.encode(true)
		if err != nil {
			return describe(height, "transaction %d: %v", i, err)
		}
		if chain.Hash(t.Hash) != keccak(raw) || r.Hash != t.Hash {
			return describe(height, "transaction %d does not have its hash", i)
		}
		outcome, ok := r.encode()
		if !ok {
			return describe(height, "the receipt of transaction %d has no status", i)
		}
		txs[i], outcomes[i] = raw, outcome
	}

	switch {
	case rootOf(txs) != chain.Hash(b.Transactions):
		return describe(height, "its transactions are others")
	case rootOf(outcomes) != chain.Hash(b.Receipts):
		return describe(height, "its receipts are others")
	}
	return nil
}

// read returns a checked block's transactions. Those that touch the exchange have their transfers.
func (c *Codec) read(b *fullBlock, receipts []receipt) (*chain.Block, error) {
	out := &chain.Block{
		BlockRef: b.ref(), Parent: chain.Hash(b.Parent), Time: b.when(), Txs: make([]chain.Tx, len(b.Txs)),
	}
	for i := range b.Txs {
		spent, err := b.gasOf(receipts, i)
		if err != nil {
			return nil, err
		}
		if err := c.effects(&out.Txs[i], b, &b.Txs[i], &receipts[i], spent); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// gasOf returns the gas that a transaction used.
func (b *fullBlock) gasOf(receipts []receipt, i int) (uint64, error) {
	after, ok := receipts[i].Gas.uint64()
	before := uint64(0)
	if i > 0 {
		before, _ = receipts[i-1].Gas.uint64() // looked at before
	}
	if limit, _ := b.Txs[i].Gas.uint64(); !ok || after < before || after-before > limit {
		return 0, describe(b.height(), "transaction %d uses gas that it does not have", i)
	}
	return after - before, nil
}

// effects adds the transfers of a transaction that touches the exchange.
func (c *Codec) effects(out *chain.Tx, b *fullBlock, t *transaction, r *receipt, gas uint64) error {
	out.Hash, out.Failed = chain.Hash(t.Hash), !r.succeeded()
	moves, touches := c.moves(r)
	touches = touches || len(t.To) > 0 && c.owns((*address)(t.To))
	if !touches && !c.mayPay(t) {
		return nil
	}
	from, ok := t.sender()
	if !ok {
		return describe(b.height(), "a transaction without a signature")
	}
	if !touches && !c.owns(&from) {
		return nil
	}

	cost, ok := costOf(gas, t.price(b.baseFee()))
	value, also := t.Value.amount()
	if !ok || !also {
		return describe(b.height(), "an amount that cannot be")
	}
	native := c.params.Coin
	out.Debits = append(out.Debits, chain.Debit{Address: from.String(), Coin: native, Amount: cost})
	if out.Failed {
		return nil
	}

	if !value.IsZero() {
		out.Debits = append(out.Debits, chain.Debit{Address: from.String(), Coin: native, Amount: value})
		if len(t.To) > 0 {
			out.Credits = append(out.Credits, chain.Credit{Address: address(t.To).String(), Coin: native, Amount: value})
		}
	}
	c.transfer(out, moves)
	return nil
}

// mayPay reports whether the exchange can have sent a transaction: the node says so, or it has the form of our
// payments. Recovering a sender takes a quarter of a millisecond, and most transactions of a block have
// another form.
func (c *Codec) mayPay(t *transaction) bool {
	if len(t.From) == len(address{}) && c.owns((*address)(t.From)) {
		return true
	}
	if t.kind() != typeDynamicFee || len(t.To) == 0 || len(t.AccessList) > 0 {
		return false
	}
	if _, token := c.contracts[address(t.To)]; token {
		return bytes.HasPrefix(t.Input, selectTransfer)
	}
	return len(t.Input) == 0
}

// numbered is a token's transfer, and the position of its log in the transaction.
type numbered struct {
	move
	at uint32
}

// moves returns the transfers of listed tokens, and whether one of them touches the exchange.
func (c *Codec) moves(r *receipt) (list []numbered, touches bool) {
	for i := range r.Logs {
		m, ok := r.Logs[i].move()
		if !ok {
			continue
		}
		if _, listed := c.contracts[m.contract]; listed && len(m.amount) > 0 {
			list = append(list, numbered{m, uint32(i)})
			touches = touches || c.owns(&m.from) || c.owns(&m.to)
		}
	}
	return list, touches
}

// transfer adds the transfers of tokens. One of an amount beyond every ledger's is left out: it
// stays on its address.
func (c *Codec) transfer(out *chain.Tx, moves []numbered) {
	for i := range moves {
		m := &moves[i]
		amount, fits := m.amount.amount()
		if !fits {
			continue
		}
		coin := c.contracts[m.contract].ID
		out.Debits = append(out.Debits, chain.Debit{Address: m.from.String(), Coin: coin, Amount: amount})
		out.Credits = append(out.Credits, chain.Credit{
			Index: 1 + m.at, Address: m.to.String(), Coin: coin, Amount: amount,
		})
	}
}

// price returns the sender's cost of a unit of gas.
func (t *transaction) price(base uint64) quantity {
	if kind := t.kind(); kind == typeLegacy || kind == typeAccessList {
		return t.GasPrice
	}
	most, ok := t.MaxFee.uint64()
	tip, fits := t.MaxTip.uint64()
	if !ok || !fits {
		return t.MaxFee // more than there is of any coin
	}
	if most-min(base, most) < tip {
		return ofUint(most)
	}
	return ofUint(base + tip)
}

// costOf returns the cost of gas at a price; false if it is more than any amount.
func costOf(gas uint64, price quantity) (bourse.Amount, bool) {
	each, ok := price.amount()
	if !ok {
		return bourse.Amount{}, false
	}
	return each.Mul(gas)
}
