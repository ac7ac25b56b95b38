package bitcoin

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// answering returns a client of a node that answers by a function.
func answering(t testing.TB, answer func(method string, params []any) string) *rpc.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // no REST
			http.NotFound(w, r)
			return
		}
		var q struct {
			ID     json.Number `json:"id"`
			Method string      `json:"method"`
			Params []any       `json:"params"`
		}
		_ = json.NewDecoder(r.Body).Decode(&q)
		_, _ = w.Write([]byte(strings.ReplaceAll(answer(q.Method, q.Params), "ID", q.ID.String())))
	}))
	t.Cleanup(s.Close)
	node, err := rpc.New(rpc.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	return node
}

// asking returns a client of a node that answers each method with its text. Its pool of waiting transactions takes every
// rate unless the text says otherwise.
func asking(t testing.TB, answers map[string]string) *Client {
	t.Helper()
	k := keysOf(t, "mainnet")
	c, err := NewClient(k.params, k.Public(), Options{
		Node: answering(t, func(method string, _ []any) string {
			if answer, given := answers[method]; given || method != "getmempoolinfo" {
				return answer
			}
			return `{"result":{},"id":ID}`
		}),
		Clock: func() bourse.Time { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRate checks that the node's estimate counts within floor and cap.
func TestRate(t *testing.T) {
	for text, want := range map[string]uint64{
		`{"result":{"feerate":0.00012345,"blocks":3},"id":ID}`:           12_345,
		`{"result":{"feerate":1.2e-4,"blocks":3},"id":ID}`:               12_000,
		`{"result":{"feerate":0.00000100,"blocks":3},"id":ID}`:           1_000,
		`{"result":{"feerate":9.00000000,"blocks":3},"id":ID}`:           500_000,
		`{"result":{"errors":["Insufficient data"],"blocks":0},"id":ID}`: 1_000,
		`{"result":{"feerate":-1,"blocks":3},"id":ID}`:                   1_000,
		`{"error":{"code":-32601,"message":"Method not found"},"id":ID}`: 1_000,
	} {
		got, err := asking(t, map[string]string{"estimatesmartfee": text}).rate(t.Context())
		if err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{``, `{"result":{"feerate":"0.1"},"id":ID}`, `{"error":{"code":-8,"message":"x"},"id":ID}`} {
		if _, err := asking(t, map[string]string{"estimatesmartfee": text}).rate(t.Context()); !errors.Is(err, chain.ErrOdd) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestRateOfAFullPool checks that payments offer what the node's pool takes at least, within the cap. A node that does
// not tell it has an estimate alone.
func TestRateOfAFullPool(t *testing.T) {
	for text, want := range map[string]uint64{
		`{"result":{"mempoolminfee":0.00010001,"size":3},"id":ID}`:       10_001,
		`{"result":{"mempoolminfee":0.00001000},"id":ID}`:                2_000,
		`{"result":{"mempoolminfee":9},"id":ID}`:                         500_000,
		`{"result":{"size":3,"bytes":700},"id":ID}`:                      2_000,
		`{"error":{"code":-32601,"message":"Method not found"},"id":ID}`: 2_000,
	} {
		c := asking(t, map[string]string{"estimatesmartfee": `{"result":{"feerate":0.00002},"id":ID}`, "getmempoolinfo": text})
		if got, err := c.rate(t.Context()); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{``, `{"result":{"mempoolminfee":"0.1"},"id":ID}`, `{"error":{"code":-8,"message":"x"},"id":ID}`} {
		c := asking(t, map[string]string{"estimatesmartfee": `{"result":{},"id":ID}`, "getmempoolinfo": text})
		if _, err := c.rate(t.Context()); !errors.Is(err, chain.ErrOdd) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestVerdicts translates the refusals of bitcoind, litecoind and btcd.
func TestVerdicts(t *testing.T) {
	for words, want := range map[string]chain.VerdictKind{
		"Transaction already in block chain":          chain.Known,
		"Transaction outputs already in utxo set":     chain.Known,
		"txn-already-in-mempool":                      chain.Known,
		"txn-already-known":                           chain.Known,
		"already have transaction 4a5e1e4baab89f3a32": chain.Known,
		"transaction already exists":                  chain.Known,
		"bad-txns-inputs-missingorspent":              chain.Rejected,
		"txn-mempool-conflict":                        chain.Rejected,
		"insufficient fee, rejecting replacement":     chain.Rejected,
		"mempool min fee not met":                     chain.Rejected,
		"min relay fee not met":                       chain.Rejected,
	} {
		v := verdict(&rpc.Error{Code: codeRejected, Message: words})
		if v.Kind != want || (v.Kind == chain.Rejected) != strings.Contains(v.Reason, words) {
			t.Errorf("%s: got %v", words, v)
		}
	}
}

// drawPayment draws inputs and an amount that they may or may not cover.
func drawPayment(t *rapid.T, c *Client) *chain.Payment {
	p := &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "BTC", CostCap: bourse.Units(most),
		Amount: bourse.Units(rapid.Uint64Range(1, 30_000_000).Draw(t, "amount")),
		To: chain.Destination{Address: rapid.SampledFrom([]string{
			"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
			"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
		}).Draw(t, "to")},
		Change:      rapid.IntRange(0, chain.MaxChange).Draw(t, "change"),
		LeastChange: bourse.Units(rapid.Uint64Range(0, 100_000).Draw(t, "least")),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "inputs") {
		p.Inputs = append(p.Inputs, chain.Input{
			Outpoint: chain.Outpoint{Tx: chain.Hash{1, byte(i)}, Index: uint32(i)}, Coin: "BTC",
			Owner:  rapid.SampledFrom([]uint32{chain.IndexHot, chain.IndexChange, 1, 9}).Draw(t, "owner"),
			Amount: bourse.Units(rapid.Uint64Range(300, 10_000_000).Draw(t, "input")),
		})
	}
	return p
}

// TestPrepare checks payments at any rate: nothing is lost, the fee is at least the rate's for
// the signed size, what is left over is change or too little for it, and the signer's decoder
// and Bitcoin's own script engine take the result.
func TestPrepare(t *testing.T) {
	k := keysOf(t, "mainnet")
	rates := map[string]*Client{}
	for _, rate := range []string{"0.00001000", "0.00004999", "0.00050000", "0.00490000"} {
		rates[rate] = asking(t, map[string]string{"estimatesmartfee": `{"result":{"feerate":` + rate + `},"id":ID}`})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"0.00001000", "0.00004999", "0.00050000", "0.00490000"}).Draw(t, "rate")
		c := rates[text]
		number := rpc.Number(text)
		units, _ := number.Units(decimals)
		p := drawPayment(t, c)
		sum := uint64(0)
		for _, in := range p.Inputs {
			sum += in.Amount.Lo
		}
		u, err := c.Prepare(context.Background(), p)
		if err != nil {
			short := sum < p.Amount.Lo+costOf(weightBase+len(p.Inputs)*weightInput+weightOutput, units.Lo).Lo
			if p.Amount.Lo >= dustDestination && (!short || !errors.Is(err, chain.ErrFunds)) {
				t.Fatalf("%d of %d: %v", p.Amount.Lo, sum, err)
			}
			return
		}

		raw, hash, err := k.Sign(u.Raw)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Decode(raw)
		if err != nil || !d.Signed || d.Hash != hash || d.Cost != u.Cost {
			t.Fatalf("decoded as %v, %v", d, err)
		}
		checkSpent(t, d, p, sum)
		checkEngine(t, k, raw, units.Lo, u.Cost.Lo)
		checkLeft(t, d, p, units.Lo)
	})
}

func checkSpent(t *rapid.T, d chain.Decoded, p *chain.Payment, sum uint64) {
	t.Helper()
	paid := d.Cost.Lo
	for _, pay := range d.Pays {
		paid += pay.Amount.Lo
	}
	if paid != sum || d.Pays[0] != (chain.Pay{To: p.To, Coin: p.Coin, Amount: p.Amount}) {
		t.Fatalf("%d of %d: %v", paid, sum, d.Pays)
	}
}

// checkEngine lets Bitcoin's script engine execute each input, and compares the fee with the
// signed transaction's size.
func checkEngine(t *rapid.T, k *Keys, raw []byte, rate, cost uint64) {
	t.Helper()
	s, err := k.params.open(raw)
	if err != nil {
		t.Fatal(err)
	}
	hashes := s.sigHashes()
	for i := range s.inputs {
		script := keyHashScript(k.Public().program(s.inputs[i].Owner))
		amount := int64(s.inputs[i].Amount.Lo)
		fetcher := txscript.NewCannedPrevOutputFetcher(script, amount)
		e, err := txscript.NewEngine(script, s.tx, i, txscript.StandardVerifyFlags, nil, hashes, amount, fetcher)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Execute(); err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
	}
	weight := 3*s.tx.SerializeSizeStripped() + s.tx.SerializeSize()
	if cost < costOf(weight, rate).Lo {
		t.Fatalf("a fee of %d for a weight of %d at %d", cost, weight, rate)
	}
}

// checkLeft checks that change is worth an output, and that the network gets no more than that
// on top of the fee.
func checkLeft(t *rapid.T, d chain.Decoded, p *chain.Payment, rate uint64) {
	t.Helper()
	change := d.Pays[1:]
	fee := costOf(weightBase+len(p.Inputs)*weightInput+2*weightOutput+max(0, len(change)-1)*weightChange, rate)
	if len(change) > max(p.Change, 1) || fee.Plus(leastChange(rate)).Less(d.Cost) {
		t.Fatalf("pays %v at a cost of %s", d.Pays, d.Cost.Format(0))
	}
	for _, part := range change {
		if part.Amount.Less(leastChange(rate)) || len(change) > 1 && part.Amount.Less(p.LeastChange) {
			t.Fatalf("change of %v", change)
		}
	}
}

// samplePayment returns a payment, and the same with signatures.
func samplePayment(t testing.TB) (unsigned, signed []byte) {
	t.Helper()
	c := asking(t, map[string]string{"estimatesmartfee": `{"result":{},"id":ID}`})
	u, err := c.Prepare(t.Context(), &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "BTC", CostCap: bourse.Units(most), Amount: bourse.Units(1e6),
		To:     chain.Destination{Address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		Inputs: []chain.Input{{Outpoint: chain.Outpoint{Tx: chain.Hash{1}}, Owner: 5, Coin: "BTC", Amount: bourse.Units(2e6)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, _, err = keysOf(t, "mainnet").Sign(u.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Raw, signed
}

// FuzzDecode decodes anything. What is taken is encoded in one way alone.
func FuzzDecode(f *testing.F) {
	unsigned, signed := samplePayment(f)
	f.Add(unsigned)
	f.Add(signed)
	f.Add([]byte(envelopeForm))
	k := keysOf(f, "mainnet")
	c := NewCodec(k.params, k.Public())
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := c.Decode(raw)
		if err != nil {
			return
		}
		s, err := k.params.open(raw)
		if err != nil || !bytes.Equal(k.params.seal(s), raw) || d.Hash != s.hash() {
			t.Errorf("%x decodes, and is not what it encodes to", raw)
		}
	})
}

// FuzzAddress reads anything as an address: what is taken is written in one way alone.
func FuzzAddress(f *testing.F) {
	for _, p := range All() {
		k := keysOf(f, p.Name)
		f.Add(NewCodec(p, k.Public()).Destination(1).Address)
	}
	for _, s := range []string{"", "bc1", "BC1QQ", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "\u212a", "bc1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range All() {
			script, canonical, err := p.scriptOf(s)
			if err != nil {
				continue
			}
			if back, ok := p.addressOf(script); !ok || back != canonical {
				t.Errorf("%s: %q is %q, and its script %q", p.Name, s, canonical, back)
			}
		}
	})
}

// FuzzNode lets a node answer anything: the client takes it, or fails as the contract says.
func FuzzNode(f *testing.F) {
	for _, text := range []string{
		``, `{"result":null,"id":ID}`, `{"result":"00","id":ID}`, `{"result":{"blocks":1,"headers":0},"id":ID}`,
		`{"result":{"hex":"00","blockhash":""},"id":ID}`, `{"error":{"code":-5,"message":"x"},"id":ID}`,
		`{"result":"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f","id":ID}`,
		`{"result":[{"hex":"00","txid":""}],"id":ID}`, `{"result":[],"id":ID}`, `{"result":{"bestblock":""},"id":ID}`,
		`{"error":{"code":-5,"message":"No information available about address"},"id":ID}`,
		`{"error":{"code":-25,"message":"TX rejected: transaction already exists"},"id":ID}`,
	} {
		f.Add(text)
	}
	_, signed := samplePayment(f)
	f.Fuzz(func(t *testing.T, text string) {
		answers := map[string]string{}
		for _, method := range []string{"getblockhash", "getblockchaininfo", "getblockheader", "getblock",
			"estimatesmartfee", "getmempoolinfo", "scantxoutset", "getrawtransaction", "getindexinfo", "gettxout", "getnetworkinfo",
			"getinfo", "searchrawtransactions", "sendrawtransaction"} {
			answers[method] = text
		}
		c := asking(t, answers)
		_, health := c.Health(t.Context())
		_, block := c.Block(t.Context(), 7)
		_, fees := c.Fees(t.Context(), "BTC")
		_, balance := c.Balance(t.Context(), c.Destination(1).Address, "BTC")
		_, place := c.place(t.Context(), chain.Hash{1})
		_, found := c.search(t.Context(), c.Destination(1).Address)
		_, survey := c.Survey(t.Context())
		_, state := c.State(t.Context(), signed)
		_, verdict := c.Broadcast(t.Context(), signed)
		for _, err := range []error{health, block, fees, balance, place, found, survey, state, verdict} {
			if err != nil && !errors.Is(err, chain.ErrOdd) && !errors.Is(err, chain.ErrSilent) && !errors.Is(err, chain.ErrNoBlock) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestDifficulty asks for the difficulty of blocks on a made-up chain: within a period it is the
// parent's, and at its end it follows the time between the right two blocks.
func TestDifficulty(t *testing.T) {
	const end = 2 * interval
	headers := make([]header, end)
	byHash := map[string]string{}
	for height := range headers {
		var raw [headerSize]byte
		if height > 0 {
			copy(raw[4:], headers[height-1].hash[:])
		}
		// Blocks take longer and longer, within the bounds of one change, so that each pair of blocks
		// has another time between them.
		binary.LittleEndian.PutUint32(raw[68:], uint32(height*height/16))
		binary.LittleEndian.PutUint32(raw[72:], 0x1d00ffff-1)
		headers[height], _ = parseHeader(raw[:])
		byHash[formatHash(headers[height].hash)] = hex.EncodeToString(raw[:])
	}

	for _, network := range []string{"mainnet", "litecoin-mainnet"} {
		c := asking(t, nil)
		c.params = Lookup(network)
		c.options.Node = answering(t, func(_ string, params []any) string {
			return `{"result":"` + byHash[params[0].(string)] + `","id":ID}`
		})
		for _, height := range []uint64{1, interval + 7, end - 1} {
			bits, err := c.bits(t.Context(), &headers[height], height)
			if err != nil || bits != headers[height-1].bits {
				t.Errorf("%s: block %d has %08x, %v", network, height, bits, err)
			}
		}

		first := uint64(interval)
		if network != "mainnet" {
			first--
		}
		next := header{parent: headers[end-1].hash}
		want := c.params.retarget(headers[0].bits, int64(headers[end-1].time)-int64(headers[first].time))
		bits, err := c.bits(t.Context(), &next, end)
		if err != nil || bits != want || bits == headers[0].bits {
			t.Errorf("%s: the next period has %08x, %v, want %08x", network, bits, err, want)
		}
	}
}

// TestDustChange leaves too little for an output over, at the least rate: it goes to the miner.
func TestDustChange(t *testing.T) {
	c := asking(t, map[string]string{"estimatesmartfee": `{"result":{},"id":ID}`})
	const amount = 100_000
	fee := costOf(weightBase+weightInput+weightOutput, c.options.Floor).Lo
	for over, outputs := range map[uint64]int{0: 1, 200: 1, 300: 1, 400: 2} {
		u, err := c.Prepare(t.Context(), &chain.Payment{
			Kind: bourse.SignedWithdrawal, Coin: "BTC", Amount: bourse.Units(amount), CostCap: bourse.Units(most),
			To:     chain.Destination{Address: "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"},
			Inputs: []chain.Input{{Outpoint: chain.Outpoint{Tx: chain.Hash{1}}, Coin: "BTC", Amount: bourse.Units(amount + fee + over)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Decode(u.Raw)
		if err != nil || len(d.Pays) != outputs {
			t.Errorf("%d over: change of %v, %v", over, d.Pays[1:], err)
		}
	}
}

// TestIndex checks that a node without an index of transactions does not operate: a block with a
// payment of ours could not be read.
func TestIndex(t *testing.T) {
	var genesis bytes.Buffer
	if err := chaincfg.MainNetParams.GenesisBlock.Header.Serialize(&genesis); err != nil {
		t.Fatal(err)
	}
	hash := formatHash(Lookup("mainnet").Genesis)
	const noMethod = `{"error":{"code":-32601,"message":"Method not found"},"id":ID}`
	for _, c := range []struct {
		text, look string
		want       bool
	}{
		{`{"result":{"txindex":{"synced":true,"best_block_height":0}},"id":ID}`, "", true},
		{`{"result":{"txindex":{"synced":false,"best_block_height":0}},"id":ID}`, "", false},
		{`{"result":{},"id":ID}`, "", false},
		{noMethod, `No information available about transaction 00`, true},
		{noMethod, `The transaction index must be enabled to query the blockchain (specify --txindex)`, false},
		{noMethod, `No such mempool transaction. Use -txindex or provide a block hash`, false},
	} {
		text, want := c.text, c.want
		h, err := asking(t, map[string]string{
			"getblockhash": `{"result":"` + hash + `","id":ID}`, "getindexinfo": text,
			"getrawtransaction": `{"error":{"code":-5,"message":"` + c.look + `"},"id":ID}`,
			"getblockchaininfo": `{"result":{"blocks":0,"headers":0,"bestblockhash":"` + hash + `"},"id":ID}`,
			"getblockheader":    `{"result":"` + hex.EncodeToString(genesis.Bytes()) + `","id":ID}`,
		}).Health(t.Context())
		if err != nil || h.Operating != want || want != (h.Reason == "") {
			t.Errorf("%s: got %v, %v", text, h, err)
		}
	}
}

// TestOwnerWithoutKey refuses bytes that name an owner whose key no extended public key has. They could
// come from a stolen exchange, and must not end the signer's process.
func TestOwnerWithoutKey(t *testing.T) {
	k := keysOf(t, "mainnet")
	c := asking(t, map[string]string{"estimatesmartfee": `{"result":{"feerate":0.00001},"id":ID}`})
	u, err := c.Prepare(t.Context(), &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "BTC", CostCap: bourse.Units(most), Amount: bourse.Units(1e6),
		To:     chain.Destination{Address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		Inputs: []chain.Input{{Outpoint: chain.Outpoint{Tx: chain.Hash{1}}, Coin: "BTC", Amount: bourse.Units(2e6)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, _, err := k.Sign(u.Raw)
	if err != nil {
		t.Fatal(err)
	}

	for _, owner := range []uint32{1 << 31, chain.IndexChange - 1} {
		for _, raw := range [][]byte{bytes.Clone(u.Raw), bytes.Clone(signed)} {
			binary.LittleEndian.PutUint32(raw[len(envelopeForm)+32+1:], owner)
			if d, err := c.Decode(raw); err == nil {
				t.Errorf("owner %d: decoded as %v", owner, d)
			}
			if _, _, err := k.Sign(raw); err == nil {
				t.Errorf("owner %d: signed", owner)
			}
		}
	}
}
