package cosmos

import (
	"crypto/sha256"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// fullBlock is a block with its transactions, as a node answers it.
type fullBlock struct {
	ID    blockID `json:"block_id"`
	Block struct {
		Header header `json:"header"`
		Data   struct {
			Txs []data `json:"txs"`
		} `json:"data"`
	} `json:"block"`
}

// results are the outcomes of a block's transactions.
type results struct {
	Height   number     `json:"height"`
	Outcomes *[]outcome `json:"txs_results"`
}

// describe returns an odd answer about a block.
func describe(height uint64, format string, args ...any) error {
	return odd("block %d: %s", height, fmt.Sprintf(format, args...))
}

// check checks a block against its hash and that of its transactions.
func (b *fullBlock) check() error {
	h := &b.Block.Header
	if err := h.check(&b.ID); err != nil {
		return err
	}
	leaves := make([][]byte, len(b.Block.Data.Txs))
	for i, tx := range b.Block.Data.Txs {
		sum := sha256.Sum256(tx)
		leaves[i] = sum[:]
	}
	if root, ok := h.Data.hash(); !ok || root != rootOf(leaves) {
		return describe(uint64(h.Height), "its transactions are others")
	}
	return nil
}

// read returns a checked block's transactions. Those that touch the exchange have their transfers.
func (c *Codec) read(b *fullBlock, outcomes []outcome) (*chain.Block, error) {
	h := &b.Block.Header
	if len(outcomes) != len(b.Block.Data.Txs) {
		return nil, describe(uint64(h.Height), "%d results of %d transactions", len(outcomes), len(b.Block.Data.Txs))
	}

	out := &chain.Block{BlockRef: h.ref(), Parent: h.parent(), Time: h.when(), Txs: make([]chain.Tx, len(outcomes))}
	for i, raw := range b.Block.Data.Txs {
		o, tx := &outcomes[i], &out.Txs[i]
		if o.Code == nil {
			return nil, describe(uint64(h.Height), "the result of transaction %d has no code", i)
		}
		tx.Hash, tx.Failed = sha256.Sum256(raw), *o.Code != 0
		tx.Debits, tx.Credits = c.effects(raw, o)
	}
	return out, nil
}
