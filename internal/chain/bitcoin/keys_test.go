package bitcoin

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// seed84 is the seed of the words "abandon … about" in BIP 84's test vectors.
const seed84 = "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1" +
	"9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4"

func keysOf(t testing.TB, network string) *Keys {
	t.Helper()
	seed, err := hex.DecodeString(seed84)
	if err != nil {
		t.Fatal(err)
	}
	k, err := NewKeys(Lookup(network), seed)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestBIP84 holds addresses against the vectors of BIP 84.
func TestBIP84(t *testing.T) {
	k := keysOf(t, "mainnet")
	c := NewCodec(k.params, k.Public())
	for index, want := range map[uint32]string{
		1:              "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
		chain.IndexHot: "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el",
	} {
		if got := c.Destination(index).Address; got != want {
			t.Errorf("address %d is %s, want %s", index, got, want)
		}
	}
	if !strings.HasPrefix(k.Public().String(), "wpkh([73c5da0a/84h/0h/0h]xpub") {
		t.Errorf("the descriptor is %s", k.Public())
	}
}

// TestDescriptors checks that a descriptor gives the addresses of its keys, and that every other
// text is refused without being repeated.
func TestDescriptors(t *testing.T) {
	for _, p := range All() {
		k := keysOf(t, p.Name)
		read, err := p.ParseDescriptor(k.Public().String())
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for _, index := range []uint32{0, 1, 77, chain.IndexChange} {
			if read.program(index) != k.Public().program(index) {
				t.Errorf("%s: address %d is another", p.Name, index)
			}
		}
	}

	p, k := Lookup("mainnet"), keysOf(t, "mainnet")
	good := k.Public().String()
	seed, _ := hex.DecodeString(seed84)
	account, err := hdkeychain.NewMaster(seed, p.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []uint32{84, 0, 0} {
		if account, err = account.Derive(hdkeychain.HardenedKeyStart + i); err != nil {
			t.Fatal(err)
		}
	}
	master := account.String()
	for name, s := range map[string]string{
		"empty": "", "no script": strings.TrimPrefix(good, "wpkh("), "other script": strings.Replace(good, "wpkh", "pkh", 1),
		"private": strings.Replace(good, good[strings.Index(good, "xpub"):len(good)-1], master, 1),
		"branch":  strings.Replace(good, ")", "/0/*)", 1), "network": keysOf(t, "regtest").Public().String(),
		"purpose": strings.Replace(good, "/84h", "/49h", 1), "coin": strings.Replace(good, "84h/0h", "84h/1h", 1),
		"account": strings.Replace(good, "0h]", "1h]", 1), "soft": strings.Replace(good, "0h]", "0]", 1),
		"fingerprint": strings.Replace(good, "73c5da0a", "73c5da", 1), "typo": strings.Replace(good, "xpub6", "xpub5", 1),
		"space": good + " ", "zero": strings.Replace(good, "0h]", "00h]", 1),
	} {
		if _, err := p.ParseDescriptor(s); err == nil || strings.Contains(err.Error(), master[4:]) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestAddresses reads the vectors of BIP 173 and 350 and older addresses.
func TestAddresses(t *testing.T) {
	for _, c := range []struct{ network, address, script string }{
		{"mainnet", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "0014751e76e8199196d454941c45d1b3a323f1433bd6"},
		{"signet", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
			"00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"},
		{"testnet4", "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
			"5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"},
		{"mainnet", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
			"512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"},
		{"mainnet", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "76a91477bff20c60e522dfaa3350c39b030a5d004e839a88ac"},
		{"mainnet", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87"},
		{"regtest", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", "0014751e76e8199196d454941c45d1b3a323f1433bd6"},
	} {
		p := Lookup(c.network)
		script, canonical, err := p.scriptOf(c.address)
		if err != nil || hex.EncodeToString(script) != c.script {
			t.Errorf("%s is %x, %v", c.address, script, err)
		}
		if back, ok := p.addressOf(script); !ok || back != canonical {
			t.Errorf("%s is written %s", c.address, back)
		}
		for _, other := range All() {
			shared := other.hrp == p.hrp || other.pubKeyHash == p.pubKeyHash
			if _, _, err := other.scriptOf(c.address); err == nil && !shared {
				t.Errorf("%s, of %s, is taken by %s", c.address, c.network, other.Name)
			}
		}
	}

	for _, bad := range []string{
		"tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
		"BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2", "bc1rw5uspcuh", "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
		"bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8F3t4", "bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du", "bc1gmk9yu",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", // bech32 for version 1
		"BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh",                                 // bech32m for version 0
		"bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y", // 40 bytes of version 1
		"BC1SW50QGDZ25J", "bc1pfeessrawgf",
		"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", "11BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
		"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "",
	} {
		_, _, err := Lookup("mainnet").scriptOf(bad)
		if caller := new(bourse.Error); !errors.As(err, &caller) || caller.Code != bourse.CodeInvalid {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}
