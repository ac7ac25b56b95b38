package evm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// full is the number of transactions of a usual block of Ethereum.
const full = 200

// made returns a block of payments by the hot wallet, as a node answers it, with its receipts.
func made(t testing.TB, count int) (block, receipts []byte) {
	t.Helper()
	return madeTo(t, count, sample().to)
}

// madeTo returns a block of payments to an address.
func madeTo(t testing.TB, count int, to address) (block, receipts []byte) {
	t.Helper()
	k := testKeys(t)
	h := header{
		Miner: make([]byte, 20), Bloom: make([]byte, 256), Nonce: make([]byte, 8), Number: ofUint(7), GasLimit: ofUint(30e6),
	}
	txs, outcomes := make([][]byte, count), make([][]byte, count)
	var txTexts, outcomeTexts []string
	for i := range count {
		p := sample()
		p.nonce, p.to = uint64(i), to
		sealed, hash, err := k.Sign(p.seal())
		if err != nil {
			t.Fatal(err)
		}
		if p, err = k.codec.open(sealed); err != nil {
			t.Fatal(err)
		}
		txs[i] = p.broadcastable()
		one := ofUint(1)
		r := receipt{Type: ofUint(typeDynamicFee), Status: &one, Gas: ofUint(uint64(i+1) * gasPlain), Bloom: h.Bloom}
		outcomes[i], _ = r.encode()
		txTexts = append(txTexts, fmt.Sprintf(`{"type":"0x2","chainId":"0x7a69","nonce":"%s","gas":"0x5208","maxFeePerGas":"%s",`+
			`"maxPriorityFeePerGas":"%s","to":"%s","value":"0x5","accessList":[],"input":"0x","r":"%s","s":"%s","v":"%s","hash":"%s"}`,
			ofUint(p.nonce), ofUint(p.price), ofUint(p.tip), p.to, p.r, p.s, ofUint(uint64(p.v)), formatHash(hash)))
		outcomeTexts = append(outcomeTexts, fmt.Sprintf(`{"type":"0x2","status":"0x1","cumulativeGasUsed":"%s","logs":[],`+
			`"logsBloom":"%s","transactionHash":"%s"}`, r.Gas, ofBytes(r.Bloom), formatHash(hash)))
	}

	h.Transactions, h.Receipts = digest(rootOf(txs)), digest(rootOf(outcomes))
	h.Hash = digest(keccak(h.encode()))
	text := strings.TrimSuffix(h.text(), "}")
	return []byte(text + `,"transactions":[` + strings.Join(txTexts, ",") + `]}`), []byte("[" + strings.Join(outcomeTexts, ",") + "]")
}

// text writes a header without later fields as a node answers it.
func (h *header) text() string {
	root := func(d digest) string { return ofBytes(d[:]) }
	return fmt.Sprintf(`{"hash":"%s","parentHash":"%s","sha3Uncles":"%s","miner":"%s","stateRoot":"%s",`+
		`"transactionsRoot":"%s","receiptsRoot":"%s","logsBloom":"%s","difficulty":"%s","number":"%s","gasLimit":"%s",`+
		`"gasUsed":"%s","timestamp":"%s","extraData":"%s","mixHash":"%s","nonce":"%s"}`,
		root(h.Hash), root(h.Parent), root(h.Uncles), ofBytes(h.Miner), root(h.State), root(h.Transactions),
		root(h.Receipts), ofBytes(h.Bloom), h.Difficulty, h.Number, h.GasLimit, h.GasUsed, h.Time, ofBytes(h.Extra),
		root(h.Mix), ofBytes(h.Nonce))
}

func ofBytes(d data) string {
	b, _ := d.MarshalJSON()
	return strings.Trim(string(b), `"`)
}

// TestFullBlock reads a block and wants each of its payments, and no order of them but its own.
func TestFullBlock(t *testing.T) {
	k := testKeys(t)
	for _, count := range []int{0, 1, 2, 127, 128, 129, full, 300} {
		block, receipts := made(t, count)
		b, list, err := decode(block, receipts)
		if err != nil {
			t.Fatalf("%d transactions: %v", count, err)
		}
		read, err := k.codec.read(b, list)
		if err != nil || len(read.Txs) != count {
			t.Fatalf("%d transactions: %v", count, err)
		}
		for i := range read.Txs {
			if tx := &read.Txs[i]; len(tx.Credits) != 1 || len(tx.Debits) != 2 || tx.Failed {
				t.Fatalf("payment %d is %+v", i, tx)
			}
		}
		if count < 2 {
			continue
		}
		b.Txs[0], b.Txs[count-1] = b.Txs[count-1], b.Txs[0]
		list[0].Hash, list[count-1].Hash = list[count-1].Hash, list[0].Hash
		if err := b.check(list); err == nil {
			t.Errorf("%d transactions are taken in another order", count)
		}
	}
}

// BenchmarkBlock reads a usual block from a node's answers.
func BenchmarkBlock(b *testing.B) {
	block, receipts := made(b, full)
	k := testKeys(b)
	b.SetBytes(int64(len(block) + len(receipts)))
	for b.Loop() {
		one, list, err := decode(block, receipts)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := k.codec.read(one, list); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLiar lets a node say that others sent the exchange's payments.
func TestLiar(t *testing.T) {
	k := testKeys(t)
	block, receipts := made(t, 3)
	lie := strings.ReplaceAll(string(block), `"type":"0x2"`, `"from":"`+usdt+`","type":"0x2"`)
	b, list, err := decode([]byte(lie), receipts)
	if err != nil {
		t.Fatal(err)
	}
	read, err := k.codec.read(b, list)
	if err != nil {
		t.Fatal(err)
	}
	for i := range read.Txs {
		if d := read.Txs[i].Debits; len(d) != 2 || d[0].Address != k.codec.Destination(0).Address {
			t.Errorf("payment %d takes %v", i, d)
		}
	}
}

// BenchmarkJSON only decodes the node's answers, which is the least that any reader does.
func BenchmarkJSON(b *testing.B) {
	block, receipts := made(b, full)
	for b.Loop() {
		var one fullBlock
		var list []receipt
		if json.Unmarshal(block, &one) != nil || json.Unmarshal(receipts, &list) != nil {
			b.Fatal("no JSON")
		}
	}
}

// TestPruned tells a block that the node threw away, or whose receipts it did, from an answer that is odd.
func TestPruned(t *testing.T) {
	block, receipts := made(t, 1)
	for name, c := range map[string]struct {
		block, receipts string
		want            error
	}{
		"there":       {string(block), string(receipts), nil},
		"no block":    {"null", string(receipts), chain.ErrPruned},
		"no receipts": {string(block), "null", chain.ErrPruned},
	} {
		asked := 0
		node := asking(t, func(method string) string {
			answer := string(block)
			if asked++; method == "eth_getBlockReceipts" {
				answer = c.receipts
			} else if asked > 1 { // the head comes first
				answer = c.block
			}
			return `{"jsonrpc":"2.0","id":ID,"result":` + answer + `}`
		})
		if _, err := node.Block(t.Context(), 7); !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), "block 7") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
