package bitcoin

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Broadcast sends a signed transaction to the node.
func (c *Client) Broadcast(ctx context.Context, raw []byte) (chain.Verdict, error) {
	unknown := chain.Verdict{Kind: chain.Unknown}
	t, err := c.params.open(raw)
	if err != nil {
		return unknown, err
	}
	if signed, err := c.signed(t); err != nil || !signed {
		return unknown, errSignature
	}

	// A node takes what waits already as if it were new.
	place, err := c.place(ctx, t.hash())
	if err != nil {
		return unknown, err
	}
	if place.waiting || place.confirms > 0 {
		return chain.Verdict{Kind: chain.Known}, nil
	}

	var hash string
	err = c.ask(ctx, &hash, "sendrawtransaction", hex.EncodeToString(t.broadcastable()))
	if err == nil {
		if hash != formatHash(t.hash()) {
			return unknown, odd("a verdict on another transaction")
		}
		return chain.Verdict{Kind: chain.Accepted}, nil
	}
	if node, ok := refused(err, codeMisc, codeDecode, codeVerify, codeRejected, codeAlready); ok {
		return verdict(node), nil
	}
	return unknown, sure(err)
}

// knownWords are those of nodes about a transaction that they have, waiting or mined: bitcoind
// and litecoind answer -27 or -26, btcd -27, -26 or -25.
var knownWords = []string{
	"already in block chain", "already in utxo set", "txn-already-in-mempool", "txn-already-known",
	"already have transaction", "transaction already exists", "txn-same-nonwitness-data-in-mempool",
}

// verdict translates a node's refusal.
func verdict(e *rpc.Error) chain.Verdict {
	words := strings.ToLower(e.Message)
	for _, known := range knownWords {
		if strings.Contains(words, known) {
			return chain.Verdict{Kind: chain.Known}
		}
	}
	return chain.Verdict{Kind: chain.Rejected, Reason: e.Error()}
}

// txPlace is where a node has a transaction.
type txPlace struct {
	waiting bool
	// block contains the transaction if confirms is above zero.
	block    chain.BlockRef
	confirms uint64
}

// lookedUp is a node's answer about a transaction.
type lookedUp struct {
	Hex   string `json:"hex"`
	Block string `json:"blockhash"`
}

// placed is a node's answer about a block.
type placed struct {
	Hash     string `json:"hash"`
	Height   uint64 `json:"height"`
	Confirms int64  `json:"confirmations"`
}

// place looks a transaction up. A block that left the chain does not hold it.
func (c *Client) place(ctx context.Context, hash chain.Hash) (txPlace, error) {
	var r lookedUp
	err := c.ask(ctx, &r, "getrawtransaction", formatHash(hash), 1)
	if node, none := refused(err, codeMissing); none {
		if lacksIndex(node) {
			return txPlace{}, sure(err)
		}
		return txPlace{}, nil
	}
	if err != nil {
		return txPlace{}, sure(err)
	}
	raw, err := hex.DecodeString(r.Hex)
	if err != nil {
		return txPlace{}, odd("a transaction without its bytes")
	}
	if t, err := parseTx(raw); err != nil || t.hash() != hash {
		return txPlace{}, odd("a transaction that is not the one asked for")
	}
	if r.Block == "" {
		return txPlace{waiting: true}, nil
	}
	return c.placeIn(ctx, r.Block)
}

// placeIn returns the place of a transaction in a block.
func (c *Client) placeIn(ctx context.Context, block string) (txPlace, error) {
	at, ok := parseHash(block)
	if !ok {
		return txPlace{}, odd("a block without a hash")
	}
	var b placed
	if err := c.ask(ctx, &b, "getblockheader", block, true); err != nil {
		return txPlace{}, sure(err)
	}
	if b.Hash != block || b.Confirms < -1 {
		return txPlace{}, odd("a block that is not the one asked for")
	}
	if b.Confirms < 1 {
		return txPlace{}, nil
	}
	return txPlace{block: chain.BlockRef{Height: b.Height, Hash: at}, confirms: uint64(b.Confirms)}, nil
}

// State returns the state of a signed transaction.
func (c *Client) State(ctx context.Context, raw []byte) (chain.TxState, error) {
	t, err := c.params.open(raw)
	if err != nil {
		return chain.TxState{}, err
	}

	// Conflicts are asked first: if an output is spent now and the transaction is not mined
	// later, another transaction has spent it.
	taken, err := c.replaced(ctx, t)
	if err != nil {
		return chain.TxState{}, err
	}
	place, err := c.place(ctx, t.hash())
	if err != nil {
		return chain.TxState{}, err
	}

	switch {
	case place.confirms > 0:
		return chain.TxState{Status: chain.TxMined, Block: place.block, Confirms: place.confirms}, nil
	case taken:
		return chain.TxState{Status: chain.TxConflicted}, nil
	case place.waiting:
		return chain.TxState{Status: chain.TxWaiting}, nil
	}
	return chain.TxState{Status: chain.TxAbsent}, nil
}

// unspentOutput is a node's answer about an output; null if it is spent or was never made.
type unspentOutput struct {
	Best string `json:"bestblock"`
}

// unspent reports whether a mined output is there and not spent by a mined transaction.
func (c *Client) unspent(ctx context.Context, at chain.Outpoint) (bool, error) {
	var u *unspentOutput
	if err := c.ask(ctx, &u, "gettxout", formatHash(at.Tx), at.Index, false); err != nil {
		return false, sure(err)
	}
	if u == nil {
		return false, nil
	}
	if _, ok := parseHash(u.Best); !ok {
		return false, odd("an output of no block")
	}
	return true, nil
}

// replaced reports whether a mined transaction, this one or another, has spent an input. A
// missing output counts only if the transaction that made it is mined.
func (c *Client) replaced(ctx context.Context, t *payment) (bool, error) {
	for i := range t.inputs {
		there, err := c.unspent(ctx, t.inputs[i].Outpoint)
		if err != nil {
			return false, err
		}
		if there {
			continue
		}
		made, err := c.place(ctx, t.inputs[i].Tx)
		if err != nil || made.confirms > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// scanned is a node's answer about an address's outputs.
type scanned struct {
	Success bool        `json:"success"`
	Total   *rpc.Number `json:"total_amount"`
}

// Balance returns an address's balance. The node looks through all outputs, which on a long
// chain takes longer than a request may.
func (c *Client) Balance(ctx context.Context, address string, coin chain.CoinID) (bourse.Amount, error) {
	if coin != c.params.Coin {
		return bourse.Amount{}, bourse.Errorf(bourse.CodeInvalid, "coin is not known")
	}
	var r scanned
	err := c.ask(ctx, &r, "scantxoutset", "start", []string{"addr(" + address + ")"})
	if _, unknown := refused(err, codeMethod); unknown {
		return c.search(ctx, address)
	}
	if err != nil {
		return bourse.Amount{}, sure(err)
	}
	if !r.Success || r.Total == nil {
		return bourse.Amount{}, odd("a balance that was not counted")
	}
	a, ok := r.Total.Units(decimals)
	if !ok || a.Hi > 0 || a.Lo > most {
		return bourse.Amount{}, odd("a balance of %s", *r.Total)
	}
	return a, nil
}

// Nonce returns zero: payments have no order.
func (c *Client) Nonce(context.Context, uint32) (uint64, error) { return 0, nil }
