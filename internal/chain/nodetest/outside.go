package nodetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
)

const (
	// coins is the number of outputs that the outside world has to pay with, of a whole coin each.
	coins = 45
	whole = 100_000_000
	// subsidy is the reward of the first blocks, fees apart.
	subsidy = 50 * whole
	// fee is the cost of a payment of the outside world, far above every node's least rate.
	fee = 20_000
)

// Outside mines and pays on a chain of the Bitcoin family. It implements chaintest.Outside. Not
// safe for concurrent use.
type Outside struct {
	node *Node
	key  *btcec.PrivateKey
	// script is the one of the outside world's money.
	script []byte
	// addresses are those of miners and payees, by a counter.
	addresses *bitcoin.Codec
	next      uint32
	// coins are unspent outputs; those of pending payments' change are at the end.
	coins []output
	// sent has the payments of the outside world; order the pending ones as they came.
	sent  map[string]payment
	order []string
	// kept are the blocks from height 1 on and waiting the pending payments, by their bytes, that Halt kept.
	kept, waiting []string
	// dropped are the payments that Restore sends again.
	dropped []string
	// crowd are the transactions of Crowd.
	crowd []string
	// hidden is the first block that Hide took off the chain; empty for none.
	hidden string
	// unspent are the unspent outputs of the blocks up to the height counts; see counted.
	unspent map[wire.OutPoint]*wire.TxOut
	counts  uint64
}

// output is an output of the outside world.
type output struct {
	at     wire.OutPoint
	amount int64
}

// payment is a transaction of the outside world, which spends one output.
type payment struct {
	tx    *wire.MsgTx
	spent output
}

// NewOutside gives a fresh node a chain on which the outside world has money.
func NewOutside(t testing.TB, n *Node) *Outside {
	t.Helper()
	keys, err := bitcoin.NewKeys(n.Params, bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	key, public := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{9}, 32))
	program := address.Hash160(public.SerializeCompressed())
	o := &Outside{
		node: n, key: key, script: append([]byte{0, 20}, program...),
		addresses: bitcoin.NewCodec(n.Params, keys.Public()), sent: map[string]payment{},
	}
	if err := o.earn(); err != nil {
		t.Fatal(err)
	}
	return o
}

// earn mines a block for the outside world, waits until its reward can be spent, and splits it.
func (o *Outside) earn() error {
	if err := o.blockTo(o.script, nil); err != nil {
		return err
	}
	if _, err := o.MineEmpty(o.node.ripe); err != nil {
		return err
	}
	first, err := o.txsAt(1)
	if err != nil {
		return err
	}
	reward, err := chainhash.NewHashFromStr(first[0])
	if err != nil {
		return err
	}

	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: *reward}, nil, nil))
	for range coins {
		tx.AddTxOut(wire.NewTxOut(whole, o.script))
	}
	if err := o.sign(tx, subsidy); err != nil {
		return err
	}
	if _, err := o.mine(tx); err != nil {
		return err
	}
	for i := range coins {
		o.coins = append(o.coins, output{wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}, whole})
	}
	return nil
}

func (o *Outside) call(result any, method string, params ...any) error {
	return o.node.RPC.Call(o.node.t.Context(), result, method, params...)
}

// sign signs the only input of a transaction, which has this amount.
func (o *Outside) sign(tx *wire.MsgTx, amount int64) error {
	hashes := txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(o.script, amount))
	w, err := txscript.WitnessSignature(tx, hashes, 0, amount, o.script, txscript.SigHashAll, o.key, true)
	tx.TxIn[0].Witness = w
	return err
}

// NewAddress returns an unused address outside the exchange.
func (o *Outside) NewAddress() (string, error) {
	o.next++
	return o.addresses.Destination(o.next).Address, nil
}

// scriptOf returns the script that an address stands for, as the node says, or its library.
func (o *Outside) scriptOf(to string) ([]byte, error) {
	if o.node.bare {
		a, err := address.DecodeAddress(to, &chaincfg.SimNetParams)
		if err != nil {
			return nil, err
		}
		return txscript.PayToAddrScript(a)
	}
	var r struct {
		Valid  bool   `json:"isvalid"`
		Script string `json:"scriptPubKey"`
	}
	if err := o.call(&r, "validateaddress", to); err != nil {
		return nil, err
	}
	if !r.Valid {
		return nil, fmt.Errorf("%s is no address", to)
	}
	return hex.DecodeString(r.Script)
}

// Mine adds blocks, the first with all pending transactions in the order in which they came.
func (o *Outside) Mine(count int) (chain.BlockRef, error) {
	var pool []string
	if err := o.call(&pool, "getrawmempool"); err != nil {
		return chain.BlockRef{}, err
	}
	var txs []string
	for _, hash := range o.order {
		if slices.Contains(pool, hash) {
			txs = append(txs, hash)
		}
	}
	for _, hash := range pool {
		if !slices.Contains(txs, hash) {
			txs = append(txs, hash)
		}
	}
	o.order = nil
	if _, err := o.generate(txs); err != nil {
		return chain.BlockRef{}, err
	}
	return o.MineEmpty(count - 1)
}

// mine adds a block with these transactions.
func (o *Outside) mine(txs ...*wire.MsgTx) (chain.BlockRef, error) {
	var list []string
	for _, tx := range txs {
		list = append(list, hexOf(tx))
	}
	return o.generate(list)
}

// generate adds a block with transactions, as hashes of pending ones or as bytes, and returns
// the head. Each block has a miner of its own, so that no block is made twice.
func (o *Outside) generate(txs []string) (chain.BlockRef, error) {
	miner, err := o.NewAddress()
	if err != nil {
		return chain.BlockRef{}, err
	}
	script, err := o.scriptOf(miner)
	if err != nil {
		return chain.BlockRef{}, err
	}
	if err := o.blockTo(script, txs); err != nil {
		return chain.BlockRef{}, err
	}
	return o.head()
}

// blockTo adds a block whose reward goes to a script.
func (o *Outside) blockTo(script []byte, txs []string) error {
	if o.node.bare {
		return o.submitBlock(script, txs)
	}
	if txs == nil {
		txs = []string{}
	}
	return o.call(nil, "generateblock", "raw("+hex.EncodeToString(script)+")", txs)
}

// MineEmpty adds blocks without payments.
func (o *Outside) MineEmpty(count int) (chain.BlockRef, error) {
	for range count {
		if _, err := o.generate(nil); err != nil {
			return chain.BlockRef{}, err
		}
	}
	return o.head()
}

// Prune has a node of [Pruned] throw blocks away up to a height at most, and returns the last one that is gone.
func (o *Outside) Prune(height uint64) (up uint64, err error) {
	err = o.call(&up, "pruneblockchain", height)
	return up, err
}

// MineFull adds blocks of a megabyte, with ten transactions of 3,000 outputs each to random addresses.
func (o *Outside) MineFull(count int) (chain.BlockRef, error) {
	const txs, outputs = 10, 3000
	for range count {
		list := make([]*wire.MsgTx, txs)
		for i := range list {
			spent := o.coins[0]
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(wire.NewTxIn(&spent.at, nil, nil))
			tx.AddTxOut(wire.NewTxOut(spent.amount-outputs, o.script))
			for n := range outputs {
				program := sha256.Sum256(fmt.Append(nil, spent.at, n))
				tx.AddTxOut(wire.NewTxOut(1, append([]byte{0, 20}, program[:20]...)))
			}
			if err := o.sign(tx, spent.amount); err != nil {
				return chain.BlockRef{}, err
			}
			list[i], o.coins[0] = tx, output{wire.OutPoint{Hash: tx.TxHash()}, spent.amount - outputs}
		}
		if _, err := o.mine(list...); err != nil {
			return chain.BlockRef{}, err
		}
	}
	return o.head()
}

func (o *Outside) head() (chain.BlockRef, error) {
	var info struct {
		Blocks uint64 `json:"blocks"`
		Best   string `json:"bestblockhash"`
	}
	if err := o.call(&info, "getblockchaininfo"); err != nil {
		return chain.BlockRef{}, err
	}
	hash, err := chainhash.NewHashFromStr(info.Best)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return chain.BlockRef{Height: info.Blocks, Hash: chain.Hash(*hash)}, nil
}

var errCoins = errors.New("the outside world has no more coins")

// Send makes a pending transaction.
func (o *Outside) Send(pays ...chain.Pay) (chain.Hash, error) {
	tx := wire.NewMsgTx(2)
	cost := int64(fee)
	for _, p := range pays {
		script, err := o.scriptOf(p.To.Address)
		if err != nil {
			return chain.Hash{}, err
		}
		tx.AddTxOut(wire.NewTxOut(int64(p.Amount.Lo), script))
		cost += int64(p.Amount.Lo)
	}
	from := slices.IndexFunc(o.coins, func(c output) bool { return c.amount >= cost })
	if from < 0 {
		return chain.Hash{}, errCoins
	}

	spent := o.coins[from]
	o.coins = slices.Delete(o.coins, from, from+1)
	// This sequence lets the payment be replaced.
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: spent.at, Sequence: wire.MaxTxInSequenceNum - 2})
	tx.AddTxOut(wire.NewTxOut(spent.amount-cost, o.script))
	hash, err := o.submit(tx, spent)
	if err == nil {
		change := wire.OutPoint{Hash: chainhash.Hash(hash), Index: uint32(len(pays))}
		o.coins = append(o.coins, output{change, spent.amount - cost})
	}
	return hash, err
}

// submit signs a transaction that spends an output, and makes it pending.
func (o *Outside) submit(tx *wire.MsgTx, spent output) (chain.Hash, error) {
	if err := o.sign(tx, spent.amount); err != nil {
		return chain.Hash{}, err
	}
	if err := o.call(nil, "sendrawtransaction", hexOf(tx)); err != nil {
		return chain.Hash{}, err
	}
	o.sent[tx.TxID()] = payment{tx, spent}
	o.order = append(o.order, tx.TxID())
	return chain.Hash(tx.TxHash()), nil
}

// SendFailing is not for networks of outputs.
func (o *Outside) SendFailing(chain.Pay) (chain.Hash, error) {
	return chain.Hash{}, errors.New("every mined transaction has its effect")
}

// payments returns the transactions of the last blocks, coinbases apart, in their order, and
// the first of these blocks.
func (o *Outside) payments(depth int) (txs []string, first string, err error) {
	head, err := o.head()
	if err != nil {
		return nil, "", err
	}
	for height := head.Height - uint64(depth) + 1; height <= head.Height; height++ {
		in, err := o.txsAt(height)
		if err != nil {
			return nil, "", err
		}
		txs = append(txs, in[1:]...)
	}
	err = o.call(&first, "getblockhash", head.Height-uint64(depth)+1)
	return txs, first, err
}

// txsAt returns the transactions of the block at a height.
func (o *Outside) txsAt(height uint64) ([]string, error) {
	var hash string
	if err := o.call(&hash, "getblockhash", height); err != nil {
		return nil, err
	}
	var block struct {
		Txs []string `json:"tx"`
	}
	err := o.call(&block, "getblock", hash, 1)
	return block.Txs, err
}

// Reorg replaces the last blocks by one more, which are empty.
func (o *Outside) Reorg(depth int, drop bool) (chain.BlockRef, error) {
	txs, first, err := o.payments(depth)
	if err != nil {
		return chain.BlockRef{}, err
	}
	raws := map[string]string{}
	for _, hash := range txs {
		var raw string
		if err := o.call(&raw, "getrawtransaction", hash, 0); err != nil {
			return chain.BlockRef{}, err
		}
		raws[hash] = raw
	}

	if err := o.call(nil, "invalidateblock", first); err != nil {
		return chain.BlockRef{}, err
	}
	if drop {
		if err := o.forget(txs); err != nil {
			return chain.BlockRef{}, err
		}
		for _, hash := range txs {
			o.dropped = append(o.dropped, raws[hash])
		}
	} else {
		slices.Reverse(txs)
		o.order = append(o.order, txs...)
	}
	return o.MineEmpty(depth + 1)
}

// Restart restarts the node. The transactions that wait do so afterwards: one that forgets them has
// them again from its peers.
func (o *Outside) Restart() error {
	if o.node.remembers == nil {
		return o.forget(nil)
	}
	o.node.Stop()
	o.node.Run()
	return nil
}

// forget restarts the node without these pending transactions.
func (o *Outside) forget(txs []string) error {
	var pool []string
	if err := o.call(&pool, "getrawmempool"); err != nil {
		return err
	}
	var keep []string
	for _, hash := range pool {
		var raw string
		if err := o.call(&raw, "getrawtransaction", hash, 0); err != nil {
			return err
		}
		if !slices.Contains(txs, hash) {
			keep = append(keep, raw)
		}
	}
	o.node.Stop()
	o.node.RunForgetful()
	for _, raw := range keep {
		if err := o.call(nil, "sendrawtransaction", raw); err != nil {
			return err
		}
	}
	return nil
}

// Restore makes dropped transactions pending again, if they are still valid.
func (o *Outside) Restore() error {
	for _, raw := range o.dropped {
		_ = o.call(nil, "sendrawtransaction", raw) // one that a conflict excludes is refused
	}
	o.dropped = nil
	return nil
}

// DoubleSpend replaces a payment by one that spends the same output.
func (o *Outside) DoubleSpend(hash chain.Hash) (chain.Hash, error) {
	name := chainhash.Hash(hash).String()
	old, known := o.sent[name]
	if !known {
		return chain.Hash{}, fmt.Errorf("%s is not a payment of the outside world", name)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&old.spent.at, nil, nil))
	tx.AddTxOut(wire.NewTxOut(old.spent.amount-10*fee, o.script))
	o.dropped = append(o.dropped, hexOf(old.tx))

	var at struct {
		Block    string `json:"blockhash"`
		Confirms int    `json:"confirmations"`
	}
	if err := o.call(&at, "getrawtransaction", name, 1); err != nil {
		return chain.Hash{}, err
	}
	if at.Block == "" {
		return o.submit(tx, old.spent)
	}
	if err := o.call(nil, "invalidateblock", at.Block); err != nil {
		return chain.Hash{}, err
	}
	if err := o.sign(tx, old.spent.amount); err != nil {
		return chain.Hash{}, err
	}
	if _, err := o.mine(tx); err != nil {
		return chain.Hash{}, err
	}
	_, err := o.MineEmpty(at.Confirms)
	return chain.Hash(tx.TxHash()), err
}

// Hide takes the last blocks off the node's chain until it is called with zero.
func (o *Outside) Hide(blocks uint64) error {
	if o.hidden != "" {
		if err := o.call(nil, "reconsiderblock", o.hidden); err != nil {
			return err
		}
		o.hidden = ""
	}
	if blocks == 0 {
		return nil
	}
	_, first, err := o.payments(int(blocks))
	if err != nil {
		return err
	}
	o.hidden = first
	return o.call(nil, "invalidateblock", first)
}

// Fund pays outputs to an address and mines them.
func (o *Outside) Fund(to string, outputs int, amount uint64) error {
	for range outputs {
		pay := chain.Pay{To: chain.Destination{Address: to}, Amount: bourse.Units(amount)}
		if _, err := o.Send(pay); err != nil {
			return err
		}
	}
	_, err := o.Mine(1)
	return err
}

// Balance returns the sum of an address's mined outputs.
func (o *Outside) Balance(of string) (bourse.Amount, error) {
	script, err := o.scriptOf(of)
	if err != nil {
		return bourse.Amount{}, err
	}
	head, err := o.head()
	if err != nil {
		return bourse.Amount{}, err
	}

	has := map[wire.OutPoint]int64{}
	for height := range head.Height {
		if err := o.enter(has, height+1, script); err != nil {
			return bourse.Amount{}, err
		}
	}
	var sum bourse.Amount
	for _, amount := range has {
		sum = sum.Plus(bourse.Units(uint64(amount)))
	}
	return sum, nil
}

// enter enters a block into the unspent outputs of a script.
func (o *Outside) enter(has map[wire.OutPoint]int64, height uint64, script []byte) error {
	txs, err := o.txsAt(height)
	if err != nil {
		return err
	}
	for _, hash := range txs {
		tx, err := o.txOf(hash)
		if err != nil {
			return err
		}
		for _, in := range tx.TxIn {
			delete(has, in.PreviousOutPoint)
		}
		for i, out := range tx.TxOut {
			if bytes.Equal(out.PkScript, script) {
				has[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = out.Value
			}
		}
	}
	return nil
}

func hexOf(tx *wire.MsgTx) string {
	var b bytes.Buffer
	_ = tx.Serialize(&b) // a buffer takes everything
	return hex.EncodeToString(b.Bytes())
}
