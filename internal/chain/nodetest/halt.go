package nodetest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Halt kills the node's process. It keeps what the node's peers would have: the blocks, and the outside
// world's pending payments. Not for chains that are reorganised between two halts.
func (o *Outside) Halt() error {
	head, err := o.head()
	if err != nil {
		return err
	}
	for height := uint64(len(o.kept)) + 1; height <= head.Height; height++ {
		var hash, block string
		if err := o.call(&hash, "getblockhash", height); err != nil {
			return err
		}
		if err := o.call(&block, "getblock", hash, 0); err != nil {
			return err
		}
		o.kept = append(o.kept, block)
	}

	var pool []string
	if err := o.call(&pool, "getrawmempool"); err != nil {
		return err
	}
	for _, hash := range o.order {
		if slices.Contains(pool, hash) {
			o.waiting = append(o.waiting, hexOf(o.sent[hash].tx))
		}
	}
	o.node.Kill()
	return nil
}

// Resume starts the node that Halt killed. Its peers give back the blocks that it lost, and the outside world
// its pending payments, but not those of the exchange.
func (o *Outside) Resume() error {
	o.node.Run()
	head, err := o.head()
	if err != nil {
		return err
	}
	for _, block := range o.kept[head.Height:] {
		if err := o.call(nil, "submitblock", block); err != nil {
			return err
		}
	}
	if head, err = o.head(); err == nil && head.Height != uint64(len(o.kept)) {
		err = fmt.Errorf("the node has %d blocks of %d", head.Height, len(o.kept))
	}
	for _, raw := range o.waiting {
		_ = o.call(nil, "sendrawtransaction", raw) // one that the node kept is refused
	}
	o.waiting = nil
	return err
}

// Holdings returns what the chain has on the addresses that public keys derive, those of the first accounts
// and the exchange's own, and the block up to which it counts.
func (o *Outside) Holdings(keys string, accounts uint32) (map[chain.CoinID]bourse.Amount, chain.BlockRef, error) {
	account, ends := strings.CutSuffix(keys, ")")
	if !ends {
		return nil, chain.BlockRef{}, fmt.Errorf("%q is no descriptor", keys)
	}
	if o.node.bare {
		return o.counted(keys, accounts)
	}
	var scan []map[string]any
	for branch := range 2 {
		scan = append(scan, map[string]any{"desc": fmt.Sprintf("%s/%d/*)", account, branch), "range": accounts})
	}
	var r struct {
		Total  rpc.Number `json:"total_amount"`
		Height uint64     `json:"height"`
		Best   string     `json:"bestblock"`
	}
	if err := o.call(&r, "scantxoutset", "start", scan); err != nil {
		return nil, chain.BlockRef{}, err
	}
	has, ok := r.Total.Units(8)
	if !ok {
		return nil, chain.BlockRef{}, fmt.Errorf("a balance of %s", r.Total)
	}
	hash, err := chainhash.NewHashFromStr(r.Best)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	at := chain.BlockRef{Height: r.Height, Hash: chain.Hash(*hash)}
	return map[chain.CoinID]bourse.Amount{o.node.Params.Coin: has}, at, nil
}

// counted counts what Holdings returns in the blocks themselves, on a node that cannot be asked for it. The chain
// is not reorganised meanwhile.
func (o *Outside) counted(keys string, accounts uint32) (map[chain.CoinID]bourse.Amount, chain.BlockRef, error) {
	public, err := o.node.Params.ParseDescriptor(keys)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	codec := bitcoin.NewCodec(o.node.Params, public)
	ours := map[string]bool{}
	indexes := []uint32{chain.IndexHot, chain.IndexChange}
	for id := range accounts {
		indexes = append(indexes, id+1)
	}
	for _, index := range indexes {
		script, err := o.scriptOf(codec.Destination(index).Address)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		ours[string(script)] = true
	}

	head, err := o.head()
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	if o.unspent == nil {
		o.unspent = map[wire.OutPoint]*wire.TxOut{}
	}
	for ; o.counts < head.Height; o.counts++ {
		if err := o.count(o.counts + 1); err != nil {
			return nil, chain.BlockRef{}, err
		}
	}
	var sum bourse.Amount
	for _, out := range o.unspent {
		if ours[string(out.PkScript)] {
			sum = sum.Plus(bourse.Units(uint64(out.Value)))
		}
	}
	return map[chain.CoinID]bourse.Amount{o.node.Params.Coin: sum}, head, nil
}

// count enters a block into the unspent outputs of all.
func (o *Outside) count(height uint64) error {
	var hash, text string
	if err := o.call(&hash, "getblockhash", height); err != nil {
		return err
	}
	if err := o.call(&text, "getblock", hash, 0); err != nil {
		return err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		return err
	}
	for _, tx := range block.Transactions {
		for _, in := range tx.TxIn {
			delete(o.unspent, in.PreviousOutPoint)
		}
		for i, out := range tx.TxOut {
			o.unspent[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = out
		}
	}
	return nil
}

// TxID names a transaction as the exchange lists it.
func (o *Outside) TxID(hash chain.Hash) string { return chainhash.Hash(hash).String() }

// Halt takes the node away.
func (o *Ether) Halt() error { return o.chain.halt() }

// Resume ends Halt.
func (o *Ether) Resume() error { return o.chain.resume() }

// Holdings returns what the chain has on the addresses that public keys derive, those of the first accounts
// and the hot wallet, of ether and the token, and the block up to which it counts.
func (o *Ether) Holdings(keys string, accounts uint32) (map[chain.CoinID]bourse.Amount, chain.BlockRef, error) {
	public, err := evm.ParseKeys(keys)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	codec, err := evm.NewCodec(&evm.Params{Chain: EtherChain, Coin: "ETH"}, public)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	head, err := o.head()
	if err != nil {
		return nil, chain.BlockRef{}, err
	}

	has := map[chain.CoinID]bourse.Amount{}
	for index := range accounts + 1 { // index 0 is the hot wallet
		address := codec.Destination(index).Address
		coins, err := o.Balance(address)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		tokens, err := o.Tokens(address)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		has["ETH"], has[TokenAt] = has["ETH"].PlusOrMax(coins), has[TokenAt].PlusOrMax(tokens)
	}
	return has, head, nil
}

// TxID names a transaction as the exchange lists it.
func (o *Ether) TxID(hash chain.Hash) string { return "0x" + hex.EncodeToString(hash[:]) }
