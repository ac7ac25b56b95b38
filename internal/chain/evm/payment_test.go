package evm

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// sample returns an unsigned payment of the hot wallet.
func sample() *payment {
	return &payment{
		chain: 31337, nonce: 7, tip: 1e9, price: 3e9, gas: gasPlain, to: address{0: 1, 19: 2}, value: ofUint(5),
	}
}

// sampleToken returns an unsigned payment of the token.
func sampleToken(t testing.TB) *payment {
	p := sample()
	to := p.to
	p.to, p.value = address(unhex(t, usdt)), nil
	p.input = appendWord(appendWord(bytes.Clone(selectTransfer), to[:]), ofUint(5))
	return p
}

// TestSign signs payments of both kinds, and reads what they do.
func TestSign(t *testing.T) {
	k := testKeys(t)
	for coin, p := range map[chain.CoinID]*payment{"ETH": sample(), usdt: sampleToken(t)} {
		for _, owner := range []uint32{chain.IndexHot, 5} {
			p.owner, p.r, p.s, p.v = owner, nil, nil, 0
			unsigned, err := k.codec.Decode(p.seal())
			if err != nil || unsigned.Signed || unsigned.Hash != (chain.Hash{}) {
				t.Fatalf("%s: %+v, %v", coin, unsigned, err)
			}
			raw, hash, err := k.Sign(p.seal())
			if err != nil {
				t.Fatal(err)
			}
			d, err := k.codec.Decode(raw)
			want := chain.Pay{To: chain.Destination{Address: address{0: 1, 19: 2}.String()}, Coin: coin, Amount: bourse.Units(5)}
			if err != nil || !d.Signed || d.Hash != hash || d.From != owner || d.Nonce != 7 || len(d.Pays) != 1 ||
				d.Pays[0] != want || d.Cost != bourse.Units(gasPlain*3e9) {
				t.Errorf("%s of %d: %+v, %v", coin, owner, d, err)
			}
		}
	}
}

// TestDecodeRefuses wants every payment refused that does more or other than a payment may.
func TestDecodeRefuses(t *testing.T) {
	k := testKeys(t)
	ether := func(change func(*payment)) *payment { p := sample(); change(p); return p }
	token := func(change func(*payment)) *payment { p := sampleToken(t); change(p); return p }
	for name, p := range map[string]*payment{
		"nothing":        ether(func(p *payment) { p.value = nil }),
		"data":           ether(func(p *payment) { p.input = []byte{1} }),
		"other chain":    ether(func(p *payment) { p.chain = 1 }),
		"gas":            ether(func(p *payment) { p.gas = maxGas + 1 }),
		"no gas":         ether(func(p *payment) { p.gas = 0 }),
		"tip":            ether(func(p *payment) { p.tip = p.price + 1 }),
		"zero address":   ether(func(p *payment) { p.to = address{} }),
		"beyond amounts": ether(func(p *payment) { p.value = bytes.Repeat([]byte{1}, 17) }),
		"both":           token(func(p *payment) { p.value = ofUint(1) }),
		"nothing of it":  token(func(p *payment) { p.input[len(p.input)-1] = 0 }),
		"approval":       token(func(p *payment) { copy(p.input, selector("approve(address,uint256)")) }),
		"long":           token(func(p *payment) { p.input = append(p.input, 0) }),
		"short":          token(func(p *payment) { p.input = p.input[:67] }),
		"dirty address":  token(func(p *payment) { p.input[4] = 1 }),
		"to itself":      token(func(p *payment) { copy(p.input[16:], p.to[:]) }),
		"other contract": token(func(p *payment) { p.to[0]++ }),
	} {
		if d, err := k.codec.Decode(p.seal()); err == nil {
			t.Errorf("%s: decoded as %+v", name, d)
		}
	}
}

// TestHighSignature refuses the second signature that everybody can make of a first one.
func TestHighSignature(t *testing.T) {
	k := testKeys(t)
	raw, _, err := k.Sign(sample().seal())
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.codec.open(raw)
	if err != nil {
		t.Fatal(err)
	}
	order := unhex(t, "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	p.s, p.v = trim(minus(order, p.s)), 1-p.v
	if from, ok := p.sender(); !ok || from != k.codec.address(chain.IndexHot) {
		t.Fatal("it is no signature of the hot wallet")
	}
	if _, err := k.codec.Decode(p.seal()); err == nil {
		t.Error("a high signature is taken")
	}
}

// TestOwnerWithoutKey refuses bytes that name an owner whose key no extended public key has. They could
// come from a stolen exchange, and must not end the signer's process.
func TestOwnerWithoutKey(t *testing.T) {
	k := testKeys(t)
	signed, _, err := k.Sign(sample().seal())
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []uint32{1 << 31, chain.IndexChange - 1} {
		for _, raw := range [][]byte{sample().seal(), bytes.Clone(signed)} {
			binary.LittleEndian.PutUint32(raw[len(envelopeForm):], owner)
			if d, err := k.codec.Decode(raw); err == nil {
				t.Errorf("owner %d: decoded as %+v", owner, d)
			}
			if _, _, err := k.Sign(raw); err == nil {
				t.Errorf("owner %d: signed", owner)
			}
		}
	}
}

// TestListedLater signs payments to a contract, and lists it before they are final. They are read as what
// they are: otherwise who expects a listing could stop the wallet by a withdrawal to the contract. A new
// payment to it is refused.
func TestListedLater(t *testing.T) {
	before := testKeys(t)
	weth := address(unhex(t, "c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"))
	params := testParams()
	params.Tokens = append(params.Tokens, chain.Coin{ID: chain.CoinID(weth.String()), Decimals: 18})
	after, err := NewCodec(params, before.Public())
	if err != nil {
		t.Fatal(err)
	}

	ether, token := sample(), sampleToken(t)
	ether.to = weth
	copy(token.input[16:], weth[:])
	for coin, p := range map[chain.CoinID]*payment{"ETH": ether, usdt: token} {
		raw, hash, err := before.Sign(p.seal())
		if err != nil {
			t.Fatal(err)
		}
		d, err := after.Decode(raw)
		want := chain.Pay{To: chain.Destination{Address: weth.String()}, Coin: coin, Amount: bourse.Units(5)}
		if err != nil || d.Hash != hash || len(d.Pays) != 1 || d.Pays[0] != want {
			t.Errorf("%s: %+v, %v", coin, d, err)
		}
		if _, err := after.Decode(p.seal()); err == nil {
			t.Errorf("%s: a new payment to a listed contract is taken", coin)
		}
	}
}

// TestVerdicts reads a node's words about a transaction that it refuses.
func TestVerdicts(t *testing.T) {
	raw, _, err := testKeys(t).Sign(sample().seal())
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]chain.VerdictKind{
		"already known": chain.Known, "known transaction: 0x12": chain.Known,
		"unknown transaction type": chain.Rejected, "nonce too low": chain.Rejected,
	} {
		c := asking(t, func(method string) string {
			if method == "eth_sendRawTransaction" {
				return `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"` + words + `"}}`
			}
			return `{"jsonrpc":"2.0","id":ID,"result":null}`
		})
		if v, err := c.Broadcast(t.Context(), raw); err != nil || v.Kind != want {
			t.Errorf("%s: %+v, %v", words, v, err)
		}
	}
}

// minus returns a difference of numbers.
func minus(a, b []byte) []byte {
	b = append(make([]byte, len(a)-len(b)), b...)
	d := make([]byte, len(a))
	borrow := 0
	for i := len(a) - 1; i >= 0; i-- {
		n := int(a[i]) - int(b[i]) - borrow
		borrow = 0
		if n < 0 {
			n, borrow = n+256, 1
		}
		d[i] = byte(n)
	}
	return d
}
