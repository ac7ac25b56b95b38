package evm

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// firstCall begins the indices of what calls inside of a transaction pay. Those of logs are below.
const firstCall = 1 << 24

// traced are a transaction's changes of accounts, as a node answers them.
type traced struct {
	Hash   digest `json:"txHash"`
	Result *struct {
		Before accounts `json:"pre"`
		After  accounts `json:"post"`
	} `json:"result"`
	// Error is a node's reason for one transaction without a result, in any form.
	Error jsontext.Value `json:"error"`
}

// accounts are changed accounts. One that had no balance may be missing.
type accounts map[key]struct {
	Balance quantity `json:"balance"`
}

// key is an address with or without its checksum.
type key address

// UnmarshalText reads 20 bytes written as 0x001f.
func (k *key) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	if n, err := hex.Decode(k[:], digits[:min(len(digits), 2*len(k))]); !ok || err != nil || n != len(k) || len(digits) > 2*n {
		return errHex
	}
	return nil
}

const (
	// maxLate is the number of traces that may be late before a block is read without its calls.
	maxLate = 3
	// maxLateBlocks bounds the blocks whose late traces are counted.
	maxLateBlocks = 1000
)

// tracer returns the setting of a trace: a node compares accounts before and after each transaction. The answer is bounded
// by the gas of a block, because each account costs some. A list of calls is not: one that costs 100 gas can repeat any
// number of bytes.
func (o *Options) tracer() map[string]any {
	return map[string]any{
		"tracer":       "prestateTracer",
		"tracerConfig": map[string]bool{"diffMode": true, "disableCode": true, "disableStorage": true},
		"timeout":      o.TraceWithin.String(),
	}
}

// addCalls adds the payments of calls to a block's transactions: the rise of an address's balance above the payments that the
// block shows. No hash of the block covers it, so it is the node's word. A block that the node does not trace in time,
// several times over, is left without: a contract of anybody can take so long, and no later block would be read.
func (c *Client) addCalls(ctx context.Context, b *fullBlock, out *chain.Block) error {
	if len(b.Txs) == 0 {
		return nil
	}
	if c.lateAt(out.Hash) >= maxLate {
		out.Uncalled = true
		return nil
	}
	var list []traced
	err := c.options.Node.CallWithin(ctx, c.options.TraceWithin, &list, "debug_traceBlockByHash",
		formatHash(out.Hash), c.options.tracer())
	if err != nil {
		if isLate(err) {
			c.noteLate(out.Hash)
		}
		return unexpected(err)
	}
	if len(list) != len(b.Txs) {
		return describe(b.height(), "%d traces of %d transactions", len(list), len(b.Txs))
	}
	for i := range list {
		if list[i].Result == nil && saysLate(string(list[i].Error)) {
			c.noteLate(out.Hash)
		}
		if list[i].Hash != b.Txs[i].Hash || list[i].Result == nil {
			return describe(b.height(), "there is no trace of transaction %d", i)
		}
		if err := c.addCall(&out.Txs[i], &b.Txs[i], &list[i]); err != nil {
			return describe(b.height(), "transaction %d: %v", i, err)
		}
	}
	return nil
}

// isLate reports whether a node, or a gateway before it, did not answer in time, by its own words or by its silence.
func isLate(err error) bool {
	if node := new(rpc.Error); errors.As(err, &node) {
		return saysLate(node.Message)
	}
	return errors.Is(err, chain.ErrSilent) && errors.Is(err, context.DeadlineExceeded)
}

// saysLate reports whether a node's words are that it ended a trace: "execution timeout", "request timed out" or
// "context deadline exceeded".
func saysLate(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc([]string{"timeout", "timed out", "deadline exceeded"}, func(late string) bool {
		return strings.Contains(words, late)
	})
}

// lateAt returns how often the traces of a block were late.
func (c *Client) lateAt(block chain.Hash) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.late[block]
}

// noteLate counts a late trace of a block.
func (c *Client) noteLate(block chain.Hash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.late) == maxLateBlocks {
		clear(c.late)
	}
	c.late[block]++
}

// addCall adds what calls of a transaction paid, in the order of the addresses. What the sender gets back from its
// own payment is left out: the cost is in its balance as well.
func (c *Client) addCall(out *chain.Tx, t *transaction, trace *traced) error {
	if out.Failed {
		return nil
	}
	var ours []address
	for k := range trace.Result.After {
		if a := address(k); c.owns(&a) {
			ours = append(ours, a)
		}
	}
	if len(ours) == 0 {
		return nil
	}
	from, ok := t.sender()
	if !ok {
		return errSignature
	}
	slices.SortFunc(ours, func(a, b address) int { return slices.Compare(a[:], b[:]) })

	for n, a := range ours {
		if a == from {
			continue
		}
		paid, err := c.paidByCalls(out, a, trace)
		if err != nil {
			return err
		}
		if !paid.IsZero() {
			out.Credits = append(out.Credits, chain.Credit{
				Index: firstCall + uint32(n), Address: a.String(), Coin: c.params.Coin, Amount: paid,
			})
		}
	}
	return nil
}

// paidByCalls returns what an address has more after a transaction than before it and by what the block shows. An
// address of the exchange loses nothing by a transaction that it did not send.
func (c *Client) paidByCalls(out *chain.Tx, a address, trace *traced) (paid bourse.Amount, err error) {
	before, ok := trace.Result.Before[key(a)].Balance.amount()
	after, also := trace.Result.After[key(a)].Balance.amount()
	if !ok || !also {
		return paid, errors.New("a balance that cannot be")
	}
	for i := range out.Credits {
		if g := &out.Credits[i]; g.Coin == c.params.Coin && g.Address == a.String() {
			before = before.PlusOrMax(g.Amount)
		}
	}
	if paid, ok = after.Sub(before); !ok {
		return paid, fmt.Errorf("the trace has %s lose what it was paid", a)
	}
	return paid, nil
}
