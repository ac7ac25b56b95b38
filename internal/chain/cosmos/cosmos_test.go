package cosmos

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// foreignDenom is the denomination of the recorded block's other coin.
const foreignDenom = "ibc/F663521BF1836B00F5F177680F74BFB9A8B5654A694D0D2BC249E03CF2509013"

func testKeys(t testing.TB) *Keys {
	t.Helper()
	p, err := Lookup("dev-1")
	if err != nil {
		t.Fatal(err)
	}
	p.Tokens = []chain.Coin{{ID: foreignDenom, Decimals: 6}}
	k, err := NewKeys(p, bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sample returns a payment of the hot wallet.
func sample() *payment {
	return &payment{
		account: 9, sequence: 3, fee: bourse.Units(5000), gas: gasLimit, denom: "uatom", amount: bourse.Units(77), memo: "42",
		to: "cosmos17xpfvakm2amg962yls6f84z3kell8c5lserqta",
	}
}

// recorded returns the block of a real node that testFakes made, with its results.
func recorded(t testing.TB) (block, results []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/fakes.json")
	if err != nil {
		t.Fatal(err)
	}
	block, results, _ = bytes.Cut(bytes.TrimSuffix(bytes.TrimSpace(text), []byte("}")), []byte(",\n\"results\":"))
	return bytes.TrimPrefix(block, []byte(`{"block":`)), results
}

// parse reads a block as the client does.
func parse(c *Codec, block, outcomes []byte) (*chain.Block, error) {
	var b fullBlock
	if err := json.Unmarshal(block, &b); err != nil {
		return nil, err
	}
	var r results
	if err := json.Unmarshal(outcomes, &r); err != nil {
		return nil, err
	}
	var list []outcome
	if r.Outcomes != nil {
		list = *r.Outcomes
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return c.read(&b, list)
}

// TestModuleAddress compares with the address that every chain of the Hub's prefix has for fees.
func TestModuleAddress(t *testing.T) {
	if got := testKeys(t).codec.fees; got != "cosmos17xpfvakm2amg962yls6f84z3kell8c5lserqta" {
		t.Errorf("fees go to %s", got)
	}
}

// TestChangedBlocks changes one byte after the other of a recorded block: it is refused, or it is the same block.
func TestChangedBlocks(t *testing.T) {
	c := testKeys(t).codec
	block, results := recorded(t)
	truth, err := parse(c, block, results)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range block {
		changed := bytes.Clone(block)
		changed[i] ^= 1
		switch b, err := parse(c, changed, results); {
		case err != nil:
			refused++
		case !reflect.DeepEqual(b, truth):
			t.Errorf("with byte %d changed it is %+v", i, b.BlockRef)
		}
	}
	if refused < 1000 {
		t.Errorf("%d changes of %d are refused", refused, len(block))
	}
	if _, err := parse(c, block, []byte(`{"height":"1","txs_results":null}`)); err == nil {
		t.Error("a block without results")
	}
	if _, err := parse(c, block, bytes.Replace(results, []byte(`"code":0`), []byte(`"cod":0`), 1)); err == nil {
		t.Error("a result without a code")
	}
}

// TestRecordedBlock reads what a real node answered about a failed payment, one with a message that is no bank's, two payments
// by one message, and one of another chain's coin.
func TestRecordedBlock(t *testing.T) {
	c := testKeys(t).codec
	c.Watch(5)
	block, results := recorded(t)
	b, err := parse(c, block, results)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range b.Txs {
		for _, g := range b.Txs[i].Credits {
			if owner, ours := c.Owner(g.Address, g.Memo); ours {
				got = append(got, fmt.Sprintf("%s %.3s to %d", g.Amount.Format(0), g.Coin, owner.Index))
			}
		}
	}
	if text, want := strings.Join(got, ", "), "2 ATO to 0, 3 ATO to 2, 4 ATO to 2, 5 ibc to 2"; text != want {
		t.Errorf("found %s; want %s", text, want)
	}
}

// TestPayments decodes payments, and refuses what only looks like one.
func TestPayments(t *testing.T) {
	k := testKeys(t)
	raw, hash, err := k.Sign(sample().seal(k.codec))
	if err != nil {
		t.Fatal(err)
	}
	d, err := k.codec.Decode(raw)
	want := chain.Pay{To: chain.Destination{Address: sample().to, Memo: "42"}, Coin: "ATOM", Amount: bourse.Units(77)}
	if err != nil || !d.Signed || d.Hash != hash || d.Nonce != 3 || d.Cost != bourse.Units(5000) || len(d.Pays) != 1 || d.Pays[0] != want {
		t.Errorf("%+v, %v", d, err)
	}

	for name, change := range map[string]func(p *payment){
		"no amount":         func(p *payment) { p.amount = bourse.Amount{} },
		"no fee":            func(p *payment) { p.fee = bourse.Amount{} },
		"other gas":         func(p *payment) { p.gas++ },
		"unlisted coin":     func(p *payment) { p.denom = "uosmo" },
		"other prefix":      func(p *payment) { p.to = "osmo17xpfvakm2amg962yls6f84z3kell8c5lczssa0" },
		"upper case":        func(p *payment) { p.to = strings.ToUpper(p.to) },
		"spaces round memo": func(p *payment) { p.memo = " 42" },
		"long memo":         func(p *payment) { p.memo = strings.Repeat("1", 257) },
		"signature":         func(p *payment) { p.signature = make([]byte, signatureBytes) },
		"short signature":   func(p *payment) { p.signature = []byte{1} },
	} {
		p := sample()
		change(p)
		if d, err := k.codec.Decode(p.seal(k.codec)); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}

	// An unknown field, another message, and garbage.
	for _, more := range [][]byte{appendNumber(nil, 9, 1), appendText(nil, 1, "x"), {0}} {
		if d, err := k.codec.Decode(append(bytes.Clone(raw), more...)); err == nil {
			t.Errorf("%x behind it: %+v", more, d)
		}
	}
}

// TestUses finds the payment that used a sequence among the transactions of a block.
func TestUses(t *testing.T) {
	k, other := testKeys(t), testKeys(t)
	other.codec.hot = sample().to
	raw, _, err := k.Sign(sample().seal(k.codec))
	if err != nil {
		t.Fatal(err)
	}
	own := raw[envelopeHead:]
	for name, c := range map[string]struct {
		tx       []byte
		sequence uint64
		want     bool
	}{
		"the payment":      {own, 3, true},
		"another sequence": {own, 4, false},
		"another sender":   {sample().broadcastable(other.codec), 3, false},
		"garbage":          {own[1:], 3, false},
	} {
		if got := k.codec.uses(c.tx, c.sequence); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestMemos takes the memo of bank sends alone.
func TestMemos(t *testing.T) {
	tx := func(memo string, urls ...string) []byte {
		var body []byte
		for _, url := range urls {
			body = appendBytes(body, 1, anyOf(url, []byte{8, 1}))
		}
		return appendBytes(nil, 1, appendText(body, 2, memo))
	}
	const packet = "/ibc.core.channel.v1.MsgRecvPacket"
	for _, c := range []struct {
		tx   []byte
		want string
	}{
		{tx("195", typeSend), "195"},
		{tx("195", typeSend, "/cosmos.bank.v1beta1.MsgMultiSend"), "195"},
		{tx("195", packet), ""},
		{tx("195", typeSend, packet), ""},
		{tx("195\n", typeSend), ""},
		{tx(strings.Repeat("1", 257), typeSend), ""},
		{appendBytes(tx("195", typeSend), 1, appendText(nil, 2, "292")), "292"}, // the chain takes the last one
		{[]byte{0xff}, ""},
		{nil, ""},
	} {
		if got := memoOf(c.tx); got != c.want {
			t.Errorf("%x has the memo %q, want %q", c.tx, got, c.want)
		}
	}
}

// TestSums reads lists of coins, some of which are listed and fit a ledger.
func TestSums(t *testing.T) {
	c := testKeys(t).codec
	list, all := c.sums("12uatom,7" + foreignDenom + ",3uosmo,0uatom,07uatom,uatom,9999999999999999999999999999999999999999uatom,5uatom")
	want := []sum{{"ATOM", bourse.Units(12), 0}, {foreignDenom, bourse.Units(7), 1}, {"ATOM", bourse.Units(5), 7}}
	if all != 8 || !reflect.DeepEqual(list, want) {
		t.Errorf("%d: %v", all, list)
	}
}

// TestPrices reads what nodes want for gas.
func TestPrices(t *testing.T) {
	for list, want := range map[string]uint64{
		"0.025uatom": 25_000, "0.1ibc/AB,0.0000001uatom": 1, "2uatom": 2_000_000, "": 0, "0.1stake": 0, "0uatom": 0, "1.5xuatom": 0,
		"0.0250000uatom": 25_000,
	} {
		if got, ok := priceIn(list, "uatom"); !ok || got != want {
			t.Errorf("%q is %d, %t", list, got, ok)
		}
	}
	for _, list := range []string{"1.2.3uatom", ".uatom.uatom", "99999999999999999999uatom"} {
		if got, ok := priceIn(list, "uatom"); ok && got != 0 {
			t.Errorf("%q is %d", list, got)
		}
	}
}

// FuzzBlock reads anything as a block and its results.
func FuzzBlock(f *testing.F) {
	c := testKeys(f).codec
	block, results := recorded(f)
	f.Add(block, results)
	f.Fuzz(func(t *testing.T, block, results []byte) {
		b, err := parse(c, block, results)
		if err != nil {
			return
		}
		for i := range b.Txs {
			if tx := &b.Txs[i]; tx.Failed && len(tx.Credits) > 0 {
				t.Errorf("a failed transaction pays %v", tx.Credits)
			}
		}
	})
}

// FuzzDecode reads anything as a payment: what is taken has one encoding.
func FuzzDecode(f *testing.F) {
	k := testKeys(f)
	raw, _, err := k.Sign(sample().seal(k.codec))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(sample().seal(k.codec))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := k.codec.open(raw)
		if err == nil && !bytes.Equal(p.seal(k.codec), raw) {
			t.Errorf("%x is written as %x", raw, p.seal(k.codec))
		}
	})
}

// FuzzWire reads anything as a transaction and a price, of which nodes send many forms.
func FuzzWire(f *testing.F) {
	f.Add(sample().seal(testKeys(f).codec)[envelopeHead:], "0.025uatom")
	f.Fuzz(func(t *testing.T, tx []byte, prices string) {
		if memo := memoOf(tx); len(memo) > 256 {
			t.Errorf("a memo of %d bytes", len(memo))
		}
		_, _, _ = parseCoin(tx)
		_, _ = priceIn(prices, "uatom")
	})
}
