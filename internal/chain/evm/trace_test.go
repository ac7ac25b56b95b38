package evm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestTraces reads what calls paid from the traces of a block, and believes none that contradicts the block.
func TestTraces(t *testing.T) {
	customer := testKeys(t).codec.Destination(2).Address
	to, err := parseAddress(customer)
	if err != nil {
		t.Fatal(err)
	}
	block, receipts := madeTo(t, 2, to) // of 5 units each
	b, _, err := decode(block, receipts)
	if err != nil {
		t.Fatal(err)
	}
	sender := testKeys(t).codec.Destination(0).Address
	trace := func(i int, address, before, after string) string {
		return fmt.Sprintf(`{"txHash":"%s","result":{"pre":{%s},"post":{%s}}}`, formatHash(chain.Hash(b.Txs[i].Hash)),
			balance(address, before), balance(address, after))
	}
	plain := trace(0, customer, "0x0", "0x5")
	lower := strings.ToLower(customer)
	huge := "0x1" + strings.Repeat("0", 32)

	for name, c := range map[string]struct {
		list string
		// calls is the amount paid by calls of the second transaction.
		calls uint64
		want  error
	}{
		"nothing":          {plain + "," + trace(1, customer, "0x5", "0xa"), 0, nil},
		"calls":            {plain + "," + trace(1, customer, "0x5", "0xc"), 2, nil},
		"digits":           {plain + "," + trace(1, lower, "0x5", "0xc"), 2, nil},
		"a new account":    {plain + "," + trace(1, customer, "", "0x7"), 2, nil},
		"the sender":       {plain + "," + trace(1, sender, "0x5", "0x7"), 0, nil},
		"a loss":           {plain + "," + trace(1, customer, "0x5", "0x9"), 0, chain.ErrOdd},
		"too much":         {plain + "," + trace(1, customer, "0x5", huge), 0, chain.ErrOdd},
		"one alone":        {plain, 0, chain.ErrOdd},
		"twice":            {plain + "," + plain, 0, chain.ErrOdd},
		"three":            {plain + "," + plain + "," + plain, 0, chain.ErrOdd},
		"no result":        {plain + `,{"txHash":"` + formatHash(chain.Hash(b.Txs[1].Hash)) + `"}`, 0, chain.ErrOdd},
		"no address":       {plain + "," + trace(1, "0x12", "0x5", "0xc"), 0, chain.ErrOdd},
		"too long address": {plain + "," + trace(1, customer+"00", "0x5", "0xc"), 0, chain.ErrOdd},
	} {
		node := asking(t, func(method string) string {
			answer := string(block)
			switch method {
			case "eth_getBlockReceipts":
				answer = string(receipts)
			case "debug_traceBlockByHash":
				answer = "[" + c.list + "]"
			}
			return `{"jsonrpc":"2.0","id":ID,"result":` + answer + `}`
		})
		node.options.Trace = true
		node.Watch(3)
		read, err := node.Block(t.Context(), 7)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		var calls bourse.Amount
		for _, g := range read.Txs[1].Credits {
			if g.Index >= firstCall && g.Address == customer {
				calls = g.Amount
			}
		}
		if calls != bourse.Units(c.calls) {
			t.Errorf("%s: calls paid %s", name, calls.Format(0))
		}
	}
}

// TestLateTraces has a node give up the traces of one block again and again, as geth does with those that take too long.
// The block is read without its calls, and others with theirs. A node that refuses for another reason is waited for.
func TestLateTraces(t *testing.T) {
	to, err := parseAddress(testKeys(t).codec.Destination(2).Address)
	if err != nil {
		t.Fatal(err)
	}
	block, receipts := madeTo(t, 2, to)
	b, _, err := decode(block, receipts)
	if err != nil {
		t.Fatal(err)
	}
	says, each := "", "" // each is a member of the traces of single transactions
	node := asking(t, func(method string) string {
		answer := `"result":` + string(block)
		switch {
		case method == "eth_getBlockReceipts":
			answer = `"result":` + string(receipts)
		case method == "debug_traceBlockByHash" && each != "":
			answer = fmt.Sprintf(`"result":[{"txHash":"%s","result":{}},{"txHash":"%s",%s}]`,
				formatHash(chain.Hash(b.Txs[0].Hash)), formatHash(chain.Hash(b.Txs[1].Hash)), each)
		case method == "debug_traceBlockByHash":
			answer = fmt.Sprintf(`"error":{"code":-32000,"message":%q}`, says)
		}
		return `{"jsonrpc":"2.0","id":ID,` + answer + `}`
	})
	node.options.Trace = true
	node.Watch(3)

	wait := func(words string, times int) {
		t.Helper()
		says = words
		for range times {
			if read, err := node.Block(t.Context(), 7); !errors.Is(err, chain.ErrOdd) {
				t.Fatalf("%q: %+v, %v", words, read, err)
			}
		}
	}
	wait("required historical state unavailable", 10)
	wait("execution timeout", 2)
	wait("required historical state unavailable", 10)
	wait("request timed out", 1)
	read, err := node.Block(t.Context(), 7)
	if err != nil || !read.Uncalled || len(read.Txs[0].Credits) != 1 {
		t.Errorf("%+v, %v", read, err)
	}
	node.noteLate(chain.Hash(b.Hash)) // of a question that was under way
	if read, err := node.Block(t.Context(), 7); err != nil || !read.Uncalled {
		t.Errorf("%+v, %v", read, err)
	}
	if node.lateAt(chain.Hash{1}) != 0 {
		t.Error("the traces of another block are late")
	}

	clear(node.late)
	each = `"error":"tracing failed: insufficient funds"`
	wait("", 10)
	each = `"error":"execution timeout"` // as some nodes tell it of a single transaction
	wait("", 1)
	each = `"error":{"code":-32000,"message":"context deadline exceeded"}`
	wait("", 1)
	each = ""
	wait("context deadline exceeded", 1)
	if read, err := node.Block(t.Context(), 7); err != nil || !read.Uncalled {
		t.Errorf("%+v, %v", read, err)
	}
}

// balance writes an account of a trace; empty for one that is not there.
func balance(address, has string) string {
	if has == "" {
		return ""
	}
	return fmt.Sprintf(`"%s":{"balance":"%s"}`, address, has)
}
