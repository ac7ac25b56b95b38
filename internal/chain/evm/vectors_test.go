package evm

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// junkSeed is the seed of the words "test … junk", which local nodes make their accounts from.
const junkSeed = "9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185" +
	"d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0"

// usdt is a listed token.
const usdt = "0xdAC17F958D2ee523a2206206994597C13D831ec7"

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testParams() *Params {
	return &Params{Chain: 31337, Coin: "ETH", Tokens: []chain.Coin{{ID: usdt, Decimals: 6}}}
}

func testKeys(t testing.TB) *Keys {
	t.Helper()
	k, err := NewKeys(testParams(), unhex(t, junkSeed))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestKeccak holds the hash, selectors and topics against published ones.
func TestKeccak(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
		"Transfer(address,address,uint256)": "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
	} {
		if got := keccak([]byte(text)); hex.EncodeToString(got[:]) != want {
			t.Errorf("the hash of %q is %x", text, got)
		}
	}
	for want, got := range map[string][]byte{
		"a9059cbb": selectTransfer, "70a08231": selectBalance, "313ce567": selectDecimals,
	} {
		if hex.EncodeToString(got) != want {
			t.Errorf("a selector is %x, want %s", got, want)
		}
	}
}

// TestEIP55 holds checksums against the vectors of EIP-55, and wants them kept.
func TestEIP55(t *testing.T) {
	for _, s := range []string{
		"0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
		"0xde709f2102306220921060314715629080e2fb77", "0x27b1fdb04752bbc536007a920d24acb045561c26",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
		"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
	} {
		a, err := parseAddress(s)
		if err != nil || a.String() != s {
			t.Errorf("%s is %s, %v", s, a, err)
		}
		for _, typo := range []string{"0x" + swapCase(s[2:]), s[2:], "0X" + s[2:], s[:41] + "g", s + "0"} {
			_, err := parseAddress(typo)
			if caller := new(bourse.Error); !errors.As(err, &caller) || caller.Code != bourse.CodeInvalid {
				t.Errorf("%s: got %v", typo, err)
			}
		}
	}
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' {
			return r - 'a' + 'A'
		} else if r >= 'A' {
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// TestDestinations holds addresses against those that local nodes derive from the same words, and
// checks which addresses are none to pay to.
func TestDestinations(t *testing.T) {
	k := testKeys(t)
	c, err := NewCodec(testParams(), k.Public())
	if err != nil {
		t.Fatal(err)
	}
	for index, want := range map[uint32]string{
		1: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", 2: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
	} {
		if got := c.Destination(index).Address; got != want {
			t.Errorf("address %d is %s", index, got)
		}
	}
	read, err := ParseKeys(k.Public().String())
	if err != nil || !read.Key(7).IsEqual(k.Public().Key(7)) {
		t.Errorf("%s is read as others: %v", k.Public(), err)
	}
	if uri, ok := c.PaymentURI("ETH", c.Destination(1)); !ok || uri != "ethereum:"+c.Destination(1).Address+"@31337" {
		t.Errorf("the URI is %q", uri)
	}

	for _, lost := range []string{
		usdt, "0x0000000000000000000000000000000000000000", "0x0000000000000000000000000000000000000009",
		"0x0000000000000000000000000000000000000100",
	} {
		if _, err := c.ParseAddress(lost); err == nil {
			t.Errorf("%s is taken", lost)
		}
	}
	if _, err := c.ParseAddress(address{18: 2}.String()); err != nil {
		t.Errorf("the first address that is none of the machine's: %v", err)
	}
}

// TestRLP holds the encoding against the examples of Ethereum's wiki, and reads it back.
func TestRLP(t *testing.T) {
	lorem := "Lorem ipsum dolor sit amet, consectetur adipisicing elit"
	for want, got := range map[string][]byte{
		"83646f67":           appendString(nil, []byte("dog")),
		"c88363617483646f67": list(appendString(appendString(nil, []byte("cat")), []byte("dog"))),
		"80":                 appendString(nil, nil), "c0": list(nil), "0f": appendUint(nil, 15), "820400": appendUint(nil, 1024),
		"c7c0c1c0c3c0c1c0":                         list(append(append(list(nil), list(list(nil))...), list(append(list(nil), list(list(nil))...))...)),
		"b838" + hex.EncodeToString([]byte(lorem)): appendString(nil, []byte(lorem)),
	} {
		if hex.EncodeToString(got) != want {
			t.Errorf("got %x, want %s", got, want)
		}
	}

	for _, bad := range []string{
		"", "81", "8100", "817f", "b800", "b80101", "b90037", "bfffffffffffffffff", "c0", "83646f", "b837" + strings.Repeat("00", 55),
	} {
		r := &reader{b: unhex(t, bad)}
		if s := r.bytes(); r.end() {
			t.Errorf("%s is read as %x", bad, s)
		}
	}
	for _, bad := range []string{"00", "820001", "89010000000000000000"} {
		r := &reader{b: unhex(t, bad)}
		if n := r.uint64(); r.end() {
			t.Errorf("%s is read as %d", bad, n)
		}
	}
}

// TestEIP155 holds a legacy transaction against the example of EIP-155.
func TestEIP155(t *testing.T) {
	tx := transaction{
		Nonce: ofUint(9), GasPrice: ofUint(20e9), Gas: ofUint(21000), To: bytes.Repeat([]byte{0x35}, 20),
		Value: ofUint(1e18), V: ofUint(37),
		R: unhex(t, "28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"),
		S: unhex(t, "67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"),
	}
	signed, err := tx.encode(false)
	if h := keccak(signed); err != nil || hex.EncodeToString(h[:]) != "daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53" {
		t.Errorf("the hash to sign is %x, %v", h, err)
	}
	raw, err := tx.encode(true)
	if want := "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080" +
		"25a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276" +
		"a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"; err != nil || hex.EncodeToString(raw) != want {
		t.Errorf("the bytes are %x, %v", raw, err)
	}
	if from, ok := tx.sender(); !ok || from.String() != "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F" {
		t.Errorf("the sender is %s", from)
	}

	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{0x46}, 32))
	if s := signCompact(key, keccak(signed)); !bytes.Equal(trim(s[1:33]), tx.R) || !bytes.Equal(trim(s[33:]), tx.S) {
		t.Errorf("the signature is %x", s)
	}
}

// TestRootOfNothing holds the root of no transactions against the one in every such header.
func TestRootOfNothing(t *testing.T) {
	root := rootOf(nil)
	if hex.EncodeToString(root[:]) != "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421" {
		t.Errorf("the root is %x", root)
	}
}

// TestPrice checks what a unit of gas costs for each kind of transaction.
func TestPrice(t *testing.T) {
	for _, c := range []struct {
		t           transaction
		base, wants uint64
	}{
		{transaction{GasPrice: ofUint(9)}, 3, 9},
		{transaction{Type: ofUint(1), GasPrice: ofUint(9)}, 3, 9},
		{transaction{Type: ofUint(2), MaxFee: ofUint(9), MaxTip: ofUint(2)}, 3, 5},
		{transaction{Type: ofUint(2), MaxFee: ofUint(9), MaxTip: ofUint(9)}, 3, 9},
		{transaction{Type: ofUint(2), MaxFee: ofUint(9), MaxTip: ofUint(2)}, 7, 9},
		{transaction{Type: ofUint(4), MaxFee: ofUint(9), MaxTip: ofUint(2)}, 8, 9},
	} {
		if got, _ := c.t.price(c.base).uint64(); got != c.wants {
			t.Errorf("%+v above %d costs %d, want %d", c.t, c.base, got, c.wants)
		}
	}
}
