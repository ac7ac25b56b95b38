package nodetest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
)

// segwitFrom is the first block of btcd's simnet that may have witnesses, if the blocks before
// it vote for them: three windows of 100 blocks.
const segwitFrom = 300

// Btcd returns btcd on simnet. It serves no resources and does not count the outputs of an address.
// When it stops, it forgets the transactions that wait. The outside world makes its blocks.
func Btcd() *Kind {
	return &Kind{
		Name: "btcd", Params: bitcoin.Lookup("simnet"),
		args: func(dir, port string) []string {
			return []string{
				"--simnet", "--configfile=/dev/null", "--datadir=" + dir + "/data", "--logdir=" + dir + "/log",
				"--rpcuser=" + User, "--rpcpass=" + Password, "--rpclisten=127.0.0.1:" + port, "--notls",
				"--nolisten", "--nodnsseed", "--txindex", "--addrindex",
				// Each answer ends its connection; a test asks a few at a time.
				"--rpcmaxclients=100",
			}
		},
		ready: regexp.MustCompile(`RPC server listening on`),
		ripe:  segwitFrom, bare: true,
	}
}

// voting is the version of a block that votes for witnesses (bit 1) and the changes beside
// them (bits 0 and 2), by BIP 9.
const voting = 1<<29 | 0b111

// submitBlock makes a block on top of the node's last one and gives it to the node.
func (o *Outside) submitBlock(script []byte, txs []string) error {
	parent, height, err := o.top()
	if err != nil {
		return err
	}
	block := wire.NewMsgBlock(&wire.BlockHeader{
		Version: voting, PrevBlock: parent.BlockHash(), Bits: parent.Bits,
		// The clock's, as long as no second has two blocks.
		Timestamp: time.Unix(max(parent.Timestamp.Unix()+1, time.Now().Unix()), 0), //nolint:forbidigo // for tests alone
	})
	block.Transactions = []*wire.MsgTx{coinbase(height+1, script)}
	for _, text := range txs {
		tx, err := o.txOf(text)
		if err != nil {
			return err
		}
		block.Transactions = append(block.Transactions, tx)
	}
	seal(block)

	var raw bytes.Buffer
	if err := block.Serialize(&raw); err != nil {
		return err
	}
	var refusal *string
	if err := o.call(&refusal, "submitblock", hex.EncodeToString(raw.Bytes())); err != nil {
		return err
	}
	if refusal != nil {
		return fmt.Errorf("the node refuses a block: %s", *refusal)
	}
	return nil
}

// top returns the header of the node's last block, and its height.
func (o *Outside) top() (h wire.BlockHeader, height uint64, err error) {
	head, err := o.head()
	if err != nil {
		return h, 0, err
	}
	var text string
	if err := o.call(&text, "getblockheader", chainhash.Hash(head.Hash).String(), false); err != nil {
		return h, 0, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return h, 0, err
	}
	return h, head.Height, h.Deserialize(bytes.NewReader(raw))
}

// txOf returns a transaction by its bytes, or by the hash of one that the node has.
func (o *Outside) txOf(text string) (*wire.MsgTx, error) {
	if len(text) == 2*chainhash.HashSize {
		if err := o.call(&text, "getrawtransaction", text, 0); err != nil {
			return nil, err
		}
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, err
	}
	tx := new(wire.MsgTx)
	return tx, tx.Deserialize(bytes.NewReader(raw))
}

// coinbase returns the first transaction of a block at a height.
func coinbase(height uint64, script []byte) *wire.MsgTx {
	// Behind the height are bytes of any value: the script has at least two.
	named, _ := txscript.NewScriptBuilder().AddInt64(int64(height)).AddInt64(0).Script()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: named,
		Sequence: wire.MaxTxInSequenceNum,
	})
	tx.AddTxOut(wire.NewTxOut(subsidy, script))
	return tx
}

// seal commits a block to its transactions and does its work.
func seal(block *wire.MsgBlock) {
	if slices.ContainsFunc(block.Transactions, (*wire.MsgTx).HasWitness) {
		commit(block)
	}
	block.Header.MerkleRoot = merkle(block, (*wire.MsgTx).TxHash)
	target := targetOf(block.Header.Bits)
	for numberOf(block.BlockHash()).Cmp(target) > 0 {
		block.Header.Nonce++
	}
}

// commit adds to a coinbase the hash of the block's witnesses (BIP 141).
func commit(block *wire.MsgBlock) {
	first := block.Transactions[0]
	nothing := make([]byte, chainhash.HashSize)
	witnesses := merkle(block, func(tx *wire.MsgTx) chainhash.Hash {
		if tx == first {
			return chainhash.Hash{}
		}
		return tx.WitnessHash()
	})
	sum := chainhash.DoubleHashB(append(witnesses[:], nothing...))
	first.TxIn[0].Witness = wire.TxWitness{nothing}
	first.AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_RETURN, 36, 0xaa, 0x21, 0xa9, 0xed}, sum...)))
}

// merkle returns the root of a block's transactions.
func merkle(block *wire.MsgBlock, leaf func(*wire.MsgTx) chainhash.Hash) chainhash.Hash {
	row := make([]chainhash.Hash, 0, len(block.Transactions)+1)
	for _, tx := range block.Transactions {
		row = append(row, leaf(tx))
	}
	for len(row) > 1 {
		if len(row)%2 != 0 {
			row = append(row, row[len(row)-1])
		}
		for i := range len(row) / 2 {
			row[i] = chainhash.DoubleHashH(append(row[2*i][:], row[2*i+1][:]...))
		}
		row = row[:len(row)/2]
	}
	return row[0]
}

// targetOf returns the number that a block's hash must not exceed.
func targetOf(bits uint32) *big.Int {
	t := big.NewInt(int64(bits & 0x7fffff))
	return t.Lsh(t, 8*(uint(bits>>24)-3))
}

// numberOf returns a hash as a number.
func numberOf(h chainhash.Hash) *big.Int {
	slices.Reverse(h[:])
	return new(big.Int).SetBytes(h[:])
}
