package cosmos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Broadcast sends a signed transaction to the node. A node refuses a transaction before it has the one below, so they are
// offered in the order of their sequences.
func (c *Client) Broadcast(ctx context.Context, raw []byte) (chain.Verdict, error) {
	unknown := chain.Verdict{Kind: chain.Unknown}
	d, err := c.Decode(raw)
	if err != nil {
		return unknown, err
	}
	if !d.Signed {
		return unknown, errSignature
	}

	var r struct {
		Code      *uint32 `json:"code"`
		Codespace string  `json:"codespace"`
		Log       string  `json:"log"`
		Hash      digest  `json:"hash"`
	}
	err = c.options.Node.Call(ctx, &r, "broadcast_tx_sync", base64.StdEncoding.EncodeToString(raw[envelopeHead:]))
	if node := new(rpc.Error); errors.As(err, &node) {
		return refusal(node)
	}
	if err != nil {
		return unknown, err
	}
	if hash, ok := r.Hash.hash(); !ok || hash != d.Hash || r.Code == nil {
		return unknown, odd("a verdict on another transaction")
	}

	of := func(code uint32) bool { return *r.Code == code && r.Codespace == "sdk" }
	switch {
	case *r.Code == codeOK:
		return chain.Verdict{Kind: chain.Accepted}, nil
	case of(codeCached):
		return chain.Verdict{Kind: chain.Known}, nil
	case of(codeSequence):
		return c.passed(ctx, &d, r.Log)
	}
	return chain.Verdict{Kind: chain.Rejected, Reason: reason(*r.Code, r.Log)}, nil
}

// reason returns a node's words about a refused transaction, cut to a length that a log bears.
func reason(code uint32, log string) string { return fmt.Sprintf("code %d: %.200q", code, log) }

// refusal returns the verdict of a node that did not look at a transaction.
func refusal(node *rpc.Error) (chain.Verdict, error) {
	words := node.Details()
	switch {
	case node.Code != codeInternal:
		return chain.Verdict{Kind: chain.Unknown}, odd("%v", node)
	case strings.Contains(words, "already exists in cache"):
		return chain.Verdict{Kind: chain.Known}, nil
	}
	return chain.Verdict{Kind: chain.Rejected, Reason: words}, nil
}

// passed returns the verdict on a transaction whose sequence is not the next one: it may be mined itself.
func (c *Client) passed(ctx context.Context, d *chain.Decoded, log string) (chain.Verdict, error) {
	t, err := c.lookUp(ctx, d)
	if err != nil {
		return chain.Verdict{Kind: chain.Unknown}, err
	}
	if t != nil && t.hash == d.Hash {
		return chain.Verdict{Kind: chain.Known}, nil
	}
	return chain.Verdict{Kind: chain.Rejected, Reason: reason(codeSequence, log)}, nil
}

// found is a transaction of the hot wallet in a block.
type found struct {
	hash   chain.Hash
	height number
}

// lookUp asks for the mined transaction of the hot wallet with a transaction's sequence; nil if the node finds none. Its index may be
// behind its blocks.
func (c *Client) lookUp(ctx context.Context, d *chain.Decoded) (*found, error) {
	var r struct {
		Txs []struct {
			Height number `json:"height"`
			Tx     data   `json:"tx"`
		} `json:"txs"`
		Total *number `json:"total_count"`
	}
	query := fmt.Sprintf("tx.acc_seq='%s/%d'", c.hot, d.Nonce)
	if err := c.ask(ctx, &r, "tx_search", query, false, "1", "1", "asc"); err != nil {
		return nil, err
	}
	switch {
	case r.Total == nil || int(*r.Total) < len(r.Txs):
		return nil, odd("tx_search: no answer")
	case len(r.Txs) == 0:
		return nil, nil
	}
	t := &found{hash: sha256.Sum256(r.Txs[0].Tx), height: r.Txs[0].Height}
	if t.height == 0 {
		return nil, odd("a transaction without a block")
	}
	return t, nil
}

// recentBlocks is the number of blocks by which a node's index may be behind.
const recentBlocks = 3

// recent looks for the transaction with a transaction's sequence in the last blocks, if the sequence is used; nil if they
// have none.
func (c *Client) recent(ctx context.Context, d *chain.Decoded, head number) (*found, error) {
	a, err := c.ownAccount(ctx, head)
	if err != nil || a == nil || a.sequence <= d.Nonce {
		return nil, err
	}
	for height := head; height > 0 && head-height < recentBlocks; height-- {
		b, err := c.full(ctx, uint64(height))
		if err != nil {
			return nil, err
		}
		for _, tx := range b.Block.Data.Txs {
			if c.uses(tx, d.Nonce) {
				return &found{sha256.Sum256(tx), height}, nil
			}
		}
	}
	return nil, nil
}

// uses reports whether a block's transaction is a payment of the hot wallet with a sequence.
func (c *Codec) uses(tx []byte, sequence uint64) bool {
	t := new(payment)
	return c.parse(tx, t) == nil && t.sequence == sequence && bytes.Equal(t.broadcastable(c), tx)
}

// maxWaiting bounds the waiting transactions that are looked at. A transaction behind them counts as absent, which proves
// nothing.
const maxWaiting = 30

// waits reports whether a transaction is among the first that wait at the node.
func (c *Client) waits(ctx context.Context, raw []byte) (bool, error) {
	var r struct {
		Count *number `json:"n_txs"`
		Txs   []data  `json:"txs"`
	}
	if err := c.ask(ctx, &r, "unconfirmed_txs", number(maxWaiting).String()); err != nil {
		return false, err
	}
	if r.Count == nil || int(*r.Count) != len(r.Txs) {
		return false, odd("unconfirmed_txs: no answer")
	}
	return slices.ContainsFunc(r.Txs, func(tx data) bool { return bytes.Equal(tx, raw) }), nil
}

// State returns the state of a signed transaction.
func (c *Client) State(ctx context.Context, raw []byte) (chain.TxState, error) {
	d, err := c.Decode(raw)
	if err != nil {
		return chain.TxState{}, err
	}
	if !d.Signed {
		return chain.TxState{}, errSignature
	}
	head, err := c.height(ctx)
	if err != nil {
		return chain.TxState{}, err
	}
	t, err := c.lookUp(ctx, &d)
	if err != nil {
		return chain.TxState{}, err
	}

	if t == nil {
		if t, err = c.recent(ctx, &d, head); err != nil {
			return chain.TxState{}, err
		}
	}
	switch {
	case t != nil && t.height > head && t.hash == d.Hash:
		return chain.TxState{Status: chain.TxWaiting}, nil
	case t != nil && t.height <= head && t.hash != d.Hash:
		return chain.TxState{Status: chain.TxConflicted}, nil
	case t != nil && t.height <= head:
		return c.mined(ctx, t, head)
	}
	waits, err := c.waits(ctx, raw[envelopeHead:])
	if err != nil {
		return chain.TxState{}, err
	}
	if waits {
		return chain.TxState{Status: chain.TxWaiting}, nil
	}
	return chain.TxState{Status: chain.TxAbsent}, nil
}

// mined returns the state of a transaction that the node says is in a block.
func (c *Client) mined(ctx context.Context, t *found, head number) (chain.TxState, error) {
	b, err := c.Block(ctx, uint64(t.height))
	if err != nil {
		return chain.TxState{}, err
	}
	i := slices.IndexFunc(b.Txs, func(tx chain.Tx) bool { return tx.Hash == t.hash })
	if i < 0 {
		return chain.TxState{}, odd("a transaction that is not in its block")
	}
	return chain.TxState{
		Status: chain.TxMined, Block: b.BlockRef, Confirms: uint64(head-t.height) + 1, Failed: b.Txs[i].Failed,
	}, nil
}
