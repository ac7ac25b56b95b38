package nodetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Crowded returns a bitcoind with the smallest pool of waiting transactions that it has, 5 MB of its memory.
func Crowded(k *Kind) *Kind {
	of := *k
	of.args = func(dir, port string) []string { return append(k.args(dir, port), "-maxmempool=5") }
	return &of
}

// crowdOutputs is the number of outputs of a transaction that fills the pool. Each output is 10 bytes of the
// transaction and 40 of the memory of the node: about ten transactions fill 5 MB, and a block takes as many.
const crowdOutputs = 9_900

// Crowd sends transactions that pay a rate, in units per virtual byte, until the pool of a [Crowded] node is full and
// takes nothing below the rate.
func (o *Outside) Crowd(rate int64) error {
	for {
		least, err := o.leastRate()
		if err != nil || least >= rate {
			return err
		}
		if len(o.coins) == 0 {
			return errCoins
		}

		spent := o.coins[0]
		o.coins = o.coins[1:]
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(wire.NewTxIn(&spent.at, nil, nil))
		for range crowdOutputs {
			tx.AddTxOut(wire.NewTxOut(0, []byte{txscript.OP_0}))
		}
		tx.AddTxOut(wire.NewTxOut(spent.amount-rate*int64(tx.SerializeSize()+200), o.script))
		if err := o.sign(tx, spent.amount); err != nil {
			return err
		}
		// One that is evicted at once is the sign of a full pool.
		if err := o.call(nil, "sendrawtransaction", hexOf(tx)); err != nil && !strings.Contains(err.Error(), "mempool full") {
			return err
		}
		o.crowd = append(o.crowd, tx.TxID())
	}
}

// leastRate returns the rate below which the node's pool takes no transaction, in units per virtual byte.
func (o *Outside) leastRate() (int64, error) {
	var pool struct {
		Least rpc.Number `json:"mempoolminfee"`
	}
	if err := o.call(&pool, "getmempoolinfo"); err != nil {
		return 0, err
	}
	rate, ok := pool.Least.Units(8)
	if !ok {
		return 0, errors.New("the node tells no least rate of its pool")
	}
	return int64(rate.Lo / 1000), nil
}

// Calm lets the least rate of the node's pool fall as it does in a week without a full pool, once a block was mined
// after the last crowd. Blocks keep the time of the real clock.
func (o *Outside) Calm() error {
	const week = 7 * 24 * 60 * 60
	if err := o.call(nil, "setmocktime", time.Now().Unix()+week); err != nil { //nolint:forbidigo // for tests alone
		return err
	}
	if _, err := o.leastRate(); err != nil { // it falls when it is asked for
		return err
	}
	return o.call(nil, "setmocktime", 0)
}

// MineDearest adds a block with the transactions that pay most, as many as it takes.
func (o *Outside) MineDearest() (chain.BlockRef, error) {
	miner, err := o.NewAddress()
	if err != nil {
		return chain.BlockRef{}, err
	}
	if err := o.call(nil, "generatetoaddress", 1, miner); err != nil {
		return chain.BlockRef{}, err
	}
	return o.head()
}

// Bid is a transaction that waits at the node.
type Bid struct {
	Name string
	// Rate is its fee rate, in units per virtual byte, rounded down.
	Rate int64
}

// codeGone is the node's refusal of a transaction that it does not have.
const codeGone = -5

// Waiting returns the transactions that pay to an address and wait at the node. If one of the pool's is replaced before
// it is read, the pool is listed anew, so that its replacement is among them.
func (o *Outside) Waiting(to string) (bids []Bid, err error) {
	script, err := o.scriptOf(to)
	if err != nil {
		return nil, err
	}
	var pool map[string]struct {
		Size int64 `json:"vsize"`
		Fees struct {
			Base rpc.Number `json:"base"`
		} `json:"fees"`
		// Fee is btcd's.
		Fee rpc.Number `json:"fee"`
	}
	if err := o.call(&pool, "getrawmempool", true); err != nil {
		return nil, err
	}

	for name, entry := range pool {
		if slices.Contains(o.crowd, name) {
			continue
		}
		tx, err := o.txOf(name)
		if gone := new(rpc.Error); errors.As(err, &gone) && gone.Code == codeGone {
			return o.Waiting(to)
		}
		if err != nil {
			return nil, err
		}
		pays := func(out *wire.TxOut) bool { return bytes.Equal(out.PkScript, script) }
		if !slices.ContainsFunc(tx.TxOut, pays) {
			continue
		}
		fee, ok := max(entry.Fees.Base, entry.Fee).Units(8)
		if !ok || entry.Size == 0 {
			return nil, errors.New("the node tells no fee of a waiting transaction")
		}
		bids = append(bids, Bid{name, int64(fee.Lo) / entry.Size})
	}
	return bids, nil
}
