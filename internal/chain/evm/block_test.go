package evm

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// recorded is a block and its receipts as a node answered them (TestFaults -record).
type recorded struct {
	Block    jsontext.Value `json:"block"`
	Receipts jsontext.Value `json:"receipts"`
}

func recording(t testing.TB, name string) (r recorded) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// decode reads a block and its receipts, and checks them.
func decode(block, receipts []byte) (*fullBlock, []receipt, error) {
	var b *fullBlock
	var list []receipt
	if err := json.Unmarshal(block, &b); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(receipts, &list); err != nil {
		return nil, nil, err
	}
	if b == nil {
		return nil, nil, errHex
	}
	return b, list, b.check(list)
}

// recordedBlocks has the recordings, and the number of transactions that the exchange of the
// tests' seed gets something by.
var recordedBlocks = map[string]int{"fakes.json": 1, "types.json": 4}

// codecOf returns the codec of the exchange whose deposits were recorded.
func codecOf(t testing.TB) *Codec {
	t.Helper()
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = 1
	}
	k, err := NewKeys(testParams(), seed)
	if err != nil {
		t.Fatal(err)
	}
	k.codec.Watch(5)
	return k.codec
}

// TestRecordedBlocks reads blocks of a real node: of every type of transaction, and with every fake.
func TestRecordedBlocks(t *testing.T) {
	c := codecOf(t)
	for name, want := range recordedBlocks {
		r := recording(t, name)
		b, receipts, err := decode(r.Block, r.Receipts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		block, err := c.read(b, receipts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := 0
		for i := range block.Txs {
			for _, g := range block.Txs[i].Credits {
				if _, ours := c.Owner(g.Address, ""); ours {
					got++
				}
			}
		}
		if got != want {
			t.Errorf("%s: %d deposits, want %d", name, got, want)
		}
	}
}

var digitsForm = regexp.MustCompile(`"(\w+)":\s*"0x([0-9a-f]+)"`)

// unchecked are the fields of answers that nothing depends on: they repeat others, or are the node's
// own.
var unchecked = regexp.MustCompile(`^(totalDifficulty|size|from|blockHash|blockNumber|transactionIndex|gasPrice|` +
	`yParity|blockTimestamp|gasUsed|effectiveGasPrice|blobGasPrice|to|contractAddress|logIndex|chainId|type|transactionHash)$`)

// TestChangedBlocks changes each number of a recorded block in turn, in its block and its receipts: it
// is refused, or nothing depends on the number.
func TestChangedBlocks(t *testing.T) {
	c := codecOf(t)
	for name := range recordedBlocks {
		r := recording(t, name)
		b, receipts, err := decode(r.Block, r.Receipts)
		if err != nil {
			t.Fatal(err)
		}
		truth, err := c.read(b, receipts)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range digitsForm.FindAllSubmatchIndex(r.Block, -1) {
			changed := change(r.Block, place)
			wantSame(t, c, truth, string(r.Block[place[2]:place[3]]), changed, r.Receipts)
		}
		for _, place := range digitsForm.FindAllSubmatchIndex(r.Receipts, -1) {
			changed := change(r.Receipts, place)
			wantSame(t, c, truth, string(r.Receipts[place[2]:place[3]]), r.Block, changed)
		}
	}
}

// change changes the last digit of a number.
func change(text []byte, place []int) []byte {
	out := append([]byte(nil), text...)
	at := place[5] - 1
	out[at] = "123456789abcdef0"[strings.IndexByte("0123456789abcdef", out[at])]
	return out
}

// wantSame wants a changed block refused, or read as the true one.
func wantSame(t *testing.T, c *Codec, truth *chain.Block, field string, block, receipts []byte) {
	t.Helper()
	b, list, err := decode(block, receipts)
	if err != nil {
		return
	}
	got, err := c.read(b, list)
	if err != nil {
		return
	}
	if was, is := text(t, truth), text(t, got); was != is {
		t.Errorf("%s: believes %s, and the truth is %s", field, is, was)
	} else if !unchecked.MatchString(field) {
		t.Errorf("%s: a change is not seen", field)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// asking returns a client of a node that answers each method with a text, in which ID is the
// request's id.
func asking(t testing.TB, answer func(method string) string) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
		}
		if err := json.UnmarshalRead(r.Body, &asked); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(strings.ReplaceAll(answer(asked.Method), "ID", string(asked.ID))))
	}))
	t.Cleanup(s.Close)
	node, err := rpc.New(rpc.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	c, err := NewClient(testParams(), testKeys(t).Public(), Options{
		Node: node, Clock: func() bourse.Time { return bourse.Second },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOtherGenesis lets the node's first block become another one.
func TestOtherGenesis(t *testing.T) {
	h := header{Nonce: make([]byte, 8)}
	c := asking(t, func(method string) string {
		if method == "eth_chainId" {
			return `{"jsonrpc":"2.0","id":ID,"result":"0x7a69"}`
		}
		return `{"jsonrpc":"2.0","id":ID,"result":` + h.text() + `}`
	})
	h.Hash = digest(keccak(h.encode()))
	if err := c.CheckChain(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Extra = data{1}
	h.Hash = digest(keccak(h.encode()))
	if err := c.CheckChain(t.Context()); !errors.Is(err, chain.ErrOdd) {
		t.Errorf("another first block: %v", err)
	}
}

// FuzzBlock reads anything as a block and its receipts.
func FuzzBlock(f *testing.F) {
	for name := range recordedBlocks {
		r := recording(f, name)
		f.Add([]byte(r.Block), []byte(r.Receipts))
	}
	c := codecOf(f)
	f.Fuzz(func(t *testing.T, block, receipts []byte) {
		b, list, err := decode(block, receipts)
		if err != nil {
			return
		}
		if _, err := c.read(b, list); err != nil && !errors.Is(err, chain.ErrOdd) {
			t.Errorf("got %v", err)
		}
	})
}

// FuzzNode lets a node answer anything: the client takes it, or fails as the contract says.
func FuzzNode(f *testing.F) {
	const head = `{"jsonrpc":"2.0","id":ID,`
	for _, text := range []string{
		``, head + `"result":null}`, head + `"result":"0x7a69"}`, head + `"result":"0x"}`, head + `"result":false}`,
		head + `"result":{"currentBlock":"0x1","highestBlock":"0x2"}}`, head + `"error":{"code":3,"message":"execution reverted"}}`,
		head + `"error":{"code":-32000,"message":"already known"}}`, head + `"result":[{"status":"0x1"}]}`,
		head + `"result":` + (&header{}).text() + `}`,
	} {
		f.Add(text)
	}
	k := testKeys(f)
	raw, _, err := k.Sign(sample().seal())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := asking(t, func(string) string { return text })
		p := &chain.Payment{
			Kind: bourse.SignedWithdrawal, Coin: "ETH", Amount: bourse.Units(1), To: c.Destination(1), CostCap: bourse.Units(1),
		}
		for _, ask := range []func(context.Context) error{
			func(ctx context.Context) error { _, err := c.Health(ctx); return err },
			func(ctx context.Context) error { _, err := c.Survey(ctx); return err },
			func(ctx context.Context) error { _, err := c.Block(ctx, 7); return err },
			func(ctx context.Context) error { _, err := c.Fees(ctx, "ETH"); return err },
			func(ctx context.Context) error { _, err := c.Balance(ctx, c.Destination(1).Address, usdt); return err },
			func(ctx context.Context) error { _, err := c.Nonce(ctx, 1); return err },
			func(ctx context.Context) error { _, err := c.State(ctx, raw); return err },
			func(ctx context.Context) error { _, err := c.Broadcast(ctx, raw); return err },
			func(ctx context.Context) error { _, err := c.Prepare(ctx, p); return err },
		} {
			err := ask(t.Context())
			if err != nil && !errors.Is(err, chain.ErrOdd) && !errors.Is(err, chain.ErrSilent) &&
				!errors.Is(err, chain.ErrNoBlock) && !errors.Is(err, chain.ErrFunds) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// FuzzDecode reads anything as a payment: what is taken is encoded in one way alone.
func FuzzDecode(f *testing.F) {
	k := testKeys(f)
	for _, p := range []*payment{sample(), sampleToken(f)} {
		signed, _, err := k.Sign(p.seal())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.seal())
		f.Add(signed)
	}
	f.Add([]byte(envelopeForm))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := k.codec.Decode(raw)
		if err != nil {
			return
		}
		p, err := k.codec.open(raw)
		if err != nil || string(p.seal()) != string(raw) || d.Signed && d.Hash != p.hash() || len(d.Pays) != 1 {
			t.Errorf("%x decodes, and is not what it encodes to", raw)
		}
	})
}

// FuzzAddress reads anything as an address: what is taken is written in one way alone.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"", "0x", usdt, strings.ToLower(usdt), "0x" + strings.Repeat("0", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := parseAddress(s); err == nil && a.String() != s {
			t.Errorf("%q is %q", s, a)
		}
	})
}
