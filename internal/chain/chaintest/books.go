package chaintest

import (
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// holding is a coin at one of the exchange's addresses.
type holding struct {
	address string
	coin    chain.CoinID
}

// books are the exchange's balances and outputs according to the blocks.
type books struct {
	balances map[holding]bourse.Amount
	unspent  map[chain.Outpoint]chain.Input
}

// read builds the books from all blocks, as a scanner does.
func (d *desk) read() *books {
	d.Helper()
	b := &books{map[holding]bourse.Amount{}, map[chain.Outpoint]chain.Input{}}
	var parent chain.Hash
	for height := d.First; height <= d.head().Height; height++ {
		block := d.block(height)
		if block.Height != height || block.Parent != parent {
			d.Fatalf("block %d of height %d does not follow", height, block.Height)
		}
		parent = block.Hash
		for i := range block.Txs {
			d.enter(b, &block.Txs[i])
		}
	}
	return b
}

func (d *desk) enter(b *books, tx *chain.Tx) {
	for _, t := range tx.Debits {
		owner, ours := d.Network.Owner(t.Address, "")
		if !ours {
			continue
		}

		h := holding{t.Address, t.Coin}
		b.balances[h] = b.balances[h].Minus(t.Amount)

		if !d.shape().Outputs {
			continue
		}

		if in, ok := b.unspent[t.Spent]; !ok || in.Amount != t.Amount || in.Owner != owner.At {
			d.Errorf("%x spends %v, which is not there", tx.Hash, t)
		}
		delete(b.unspent, t.Spent)
	}

	for _, g := range tx.Credits {
		owner, ours := d.Network.Owner(g.Address, g.Memo)
		if !ours {
			continue
		}

		h := holding{g.Address, g.Coin}
		b.balances[h] = b.balances[h].Plus(g.Amount)
		point := chain.Outpoint{Tx: tx.Hash, Index: g.Index}
		b.unspent[point] = chain.Input{Outpoint: point, Owner: owner.At, Coin: g.Coin, Amount: g.Amount}
	}
}

// closeBooks compares the books with the network's balances, to the unit, at all of the
// exchange's addresses.
func (d *desk) closeBooks() {
	d.Helper()
	b := d.read()
	indices := []uint32{chain.IndexHot, chain.IndexChange}
	for index := range uint32(accounts) {
		indices = append(indices, index+1)
	}

	for _, index := range indices {
		address := d.Network.Destination(index).Address
		for _, coin := range d.some() {
			has, err := d.Network.Balance(d.Context(), address, coin.ID)
			d.must(err)
			at := holding{address, coin.ID}
			if want := b.balances[at].Plus(d.hidden[at]); has != want {
				d.Errorf("address %d has %s of %s, the blocks say %s", index, has.Format(0), coin.ID, want.Format(0))
			}
		}
	}
}

// inputs selects the inputs of a payment, on networks of outputs.
func (d *desk) inputs(coin chain.CoinID, amount bourse.Amount) []chain.Input {
	d.Helper()
	if !d.shape().Outputs {
		return nil
	}
	fees, err := d.Network.Fees(d.Context(), coin)
	d.must(err)
	unspent := slices.Collect(maps.Values(d.read().unspent))
	inputs, _, ok := chain.Select(unspent, coin, d.shape().Native, amount, fees)
	if !ok {
		d.Fatalf("the hot wallet has too little of %s", coin)
	}
	return inputs
}

// deposit is an output to one of the exchange's addresses.
type deposit struct {
	tx    chain.Hash
	index uint32
	owner chain.Owner
	coin  chain.CoinID
	sum   bourse.Amount
}

// deposits returns a block's outputs to the exchange, in order.
func (d *desk) deposits(height uint64) (found []deposit) {
	d.Helper()
	for _, tx := range d.block(height).Txs {
		for _, g := range tx.Credits {
			if owner, ours := d.Network.Owner(g.Address, g.Memo); ours {
				found = append(found, deposit{tx.Hash, g.Index, owner, g.Coin, g.Amount})
			}
		}
	}
	return found
}
