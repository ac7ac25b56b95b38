package vault_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/vault"
)

// write writes a file for a test and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSeedIsSealed encrypts a seed in both ways, and opens it with the right secret alone.
func TestSeedIsSealed(t *testing.T) {
	own, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	word := write(t, "correct horse battery staple\nsecond line\n")
	for name, c := range map[string]struct{ seal, wrong vault.Lock }{
		"passphrase": {vault.Lock{Passphrase: word}, vault.Lock{Passphrase: write(t, "another passphrase\n")}},
		"recipients": {
			vault.Lock{Recipients: []string{other.Recipient().String(), own.Recipient().String()}, Identity: write(t, own.String()+"\n")},
			vault.Lock{Identity: write(t, "# none\n"+own.String()[:1]+strings.ToLower(own.String()[1:]))}, // no identity mixes cases
		},
	} {
		seed, err := vault.NewSeed()
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := c.seal.Seal(seed)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(sealed, seed[:]) || bytes.Contains(sealed, fmt.Appendf(nil, "%x", seed)) {
			t.Errorf("%s: the seed is in its file", name)
		}
		if got, err := c.seal.Open(sealed); err != nil || got != seed {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.wrong.Open(sealed); err == nil || strings.Contains(err.Error(), own.String()[20:40]) {
			t.Errorf("%s: with another secret: %v", name, err)
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := c.seal.Open(sealed); err == nil {
			t.Errorf("%s: a damaged file opens", name)
		}
	}

	for _, lock := range []vault.Lock{
		{}, {Passphrase: word, Recipients: []string{own.Recipient().String()}}, {Passphrase: write(t, "short\n")},
		{Recipients: []string{"age1"}}, {Passphrase: "/nowhere"},
	} {
		if _, err := lock.Seal(vault.Seed{1}); err == nil {
			t.Errorf("%+v seals", lock)
		}
	}
}

const settings = `
networks:
  BTC:
    params: regtest
    max-cost: "0.001"
    hour-cost: "0.01"
    coins: {BTC: {payment: "1", hour: "5", day: "20", free: "0.1"}}
    cold: "wpkh([3442193e/48h/1h/0h/2h]tpubDEC8p4skY4i7mNjxt9yF3u7my5T6KtGLcvEDcH5rKA6XVtJN4JV3SsHWoePTqsHNh47WBkQ79r77KsUYc2PAmaqqasBJMvidbxiupZpJexg/0/*)"
    allow: [{address: bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080}]
  ETH:
    params: devnet
    coins:
      "0xdAC17F958D2ee523a2206206994597C13D831ec7": {payment: "2.5"}
  HOODI:
    adapter: evm
    params: 560048
    native: ETH
    max-cost: "0.01"
    coins:
      ETH: {payment: "1.5"}
      "0xdAC17F958D2ee523a2206206994597C13D831ec7": {decimals: 3, payment: "2.5"}
    allow: [{address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}]
  ATOM:
    adapter: cosmos
    params: provider
    max-cost: "0.05"
    coins:
      ATOM: {payment: "1.5"}
      ibc/AB12: {decimals: 3, payment: "2.5"}
    allow: [{address: cosmos17xpfvakm2amg962yls6f84z3kell8c5lserqta, memo: "42"}]
approvers: {need: 1, keys: ["d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"]}
`

// TestSettings reads limits in whole coins; whatever is missing is zero.
func TestSettings(t *testing.T) {
	s, err := vault.ReadSettings(strings.NewReader(settings))
	if err != nil {
		t.Fatal(err)
	}
	networks, err := s.Open(vault.Seed{1}, map[bourse.Symbol]bourse.NetworkID{"BTC": 1, "ETH": 2, "HOODI": 3, "ATOM": 4})
	if err != nil {
		t.Fatal(err)
	}
	n := networks[1]
	want := signer.Limit{Payment: bourse.Units(1e8), Hour: bourse.Units(5e8), Day: bourse.Units(20e8), Free: bourse.Units(1e7)}
	if n.Limit("BTC") != want || n.MaxCost != bourse.Units(1e5) || n.HourCost != bourse.Units(1e6) || len(n.Allowed) != 1 {
		t.Errorf("%+v, %+v", n, n.Limit("BTC"))
	}
	if n.Cold != "wpkh([3442193e/48h/1h/0h/2h]tpubDEC8p4skY4i7mNjxt9yF3u7my5T6KtGLcvEDcH5rKA6XVtJN4JV3SsHWoePTqsHNh47WBkQ79r77KsUYc2PAmaqqasBJMvidbxiupZpJexg/0/*)" {
		t.Errorf("cold storage is %q", n.Cold)
	}
	if to := n.Codec.Destination(n.Codec.Shape().Cold); !n.Codec.Shape().KeepsCold(n.Codec.Shape().Cold) || to.Address[:6] != "bcrt1q" {
		t.Errorf("the signer knows no address of it: %+v", to)
	}
	if !signer.IsTestChain(n.Chain) || !strings.HasPrefix(n.Public, "wpkh([") {
		t.Errorf("%+v", n.Account)
	}
	eth := networks[2]
	token := signer.Limit{Payment: bourse.Units(2_500_000)}
	if eth.Limit("ETH") != (signer.Limit{}) || eth.Limit(chain.CoinID("0xdAC17F958D2ee523a2206206994597C13D831ec7")) != token || !eth.MaxCost.IsZero() {
		t.Errorf("%+v", eth)
	}
	hoodi := networks[3]
	ether := signer.Limit{Payment: bourse.Amount{Lo: 1_500_000_000_000_000_000}}
	if hoodi.Limit("ETH") != ether || hoodi.Limit("0xdAC17F958D2ee523a2206206994597C13D831ec7") != (signer.Limit{Payment: bourse.Units(2500)}) ||
		hoodi.MaxCost != bourse.Units(1e16) || len(hoodi.Allowed) != 1 || hoodi.Chain != "evm:560048" || hoodi.Name != "HOODI" {
		t.Errorf("%+v", hoodi)
	}
	if !strings.HasPrefix(hoodi.Public, "[") || !strings.Contains(hoodi.Public, "/44h/60h/0h]xpub") {
		t.Errorf("keys are %s", hoodi.Public)
	}
	atom := networks[4]
	if atom.Limit("ATOM") != (signer.Limit{Payment: bourse.Units(1_500_000)}) || atom.Limit("ibc/AB12") != (signer.Limit{Payment: bourse.Units(2500)}) ||
		atom.MaxCost != bourse.Units(50_000) || atom.Chain != "cosmos:provider" || !strings.Contains(atom.Public, "/44h/118h/0h]xpub") ||
		len(atom.Allowed) != 1 || atom.Allowed[0].Memo != "42" {
		t.Errorf("%+v", atom)
	}
	if a, err := s.ApproverKeys(); err != nil || a.Need != 1 || len(a.Keys) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestBadSettings tells where a mistake is.
func TestBadSettings(t *testing.T) {
	known, err := vault.Known(vault.Seed{1}, true)
	if err != nil {
		t.Fatal(err)
	}
	own := strings.TrimPrefix(known[0].Public, "wpkh(")[1:9] // the fingerprint of the seed
	for _, c := range []struct{ old, by, wants string }{
		{"max-cost", "most-cost", "field most-cost not found"},
		{"cold: \"wpkh(", "cold: \"tr(", "BTC: cold is like wpkh("},
		{"cold: \"wpkh([3442193e", "cold: \"wpkh([" + own, "BTC: cold has a key of the signer's own seed"},
		{"params: devnet\n", "params: devnet\n    cold: wpkh(x)\n", "ETH: cold is a setting of networks of Bitcoin's family"},
		{"adapter: evm\n", "adapter: evm\n    cold: wpkh(x)\n", "HOODI: cold is a setting of networks of Bitcoin's family"},
		{"params: regtest", "params: testnet3", `BTC: params "testnet3" are not known`},
		{"params: regtest", "params: litecoin-regtest", "BTC: params litecoin-regtest are of the network LTC"},
		{"coins: {BTC", "coins: {LTC", "it has no coin LTC"},
		{`"0.001"`, `"0.000000001"`, "max-cost"},
		{`hour: "5"`, `hour: "-5"`, "hour"},
		{"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "allow"},
		{"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080, memo: x", "allow"},
		{"allow: [", "allow: [{address: BCRT1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KYGT080}, ", "twice"},
		{"d75a98", "zz5a98", "no key of ed25519"},
		{"  ETH:", "  DOGE:", "there is no embedded network DOGE"},
		{"adapter: evm", "adapter: tron", `HOODI: adapter "tron" is not known; bitcoin, evm and cosmos are`},
		{"params: provider", "params: osmosis-1", "ATOM: params of the adapter cosmos are the chain id, of cosmoshub-4"},
		{"params: provider", "params: provider\n    native: uatom", "ATOM: native is a setting of the adapter evm"},
		{"params: provider", "params: provider\n    cold: wpkh(x)", "ATOM: cold is a setting of networks of Bitcoin's family"},
		{"  ATOM:", "  OSMO:", "OSMO: params provider are of the network ATOM"},
		{"ibc/AB12: {decimals: 3, ", "ibc/AB12: {", "ATOM: ibc/AB12: a contract needs its decimals"},
		{"ibc/AB12: {", "uatom: {", `ATOM: "uatom" is no denomination of a coin of its own`},
		{"adapter: evm", "adapter: cosmos", "HOODI: params of the adapter cosmos are the chain id"},
		{"params: 560048", "params: hoodi", "HOODI: params of the adapter evm are the chain id"},
		{"params: 560048", "params: 0", "HOODI: params of the adapter evm are the chain id"},
		{"decimals: 3, ", "", "HOODI: 0xdAC17F958D2ee523a2206206994597C13D831ec7: a contract needs its decimals"},
		{"decimals: 3", "decimals: -3", "cannot unmarshal"},
		{`ETH: {payment: "1.5"`, `ETH: {decimals: 18, payment: "1.5"`, "HOODI: ETH: the native coin has 18 decimals"},
		{"native: ETH", "native: HOO", "HOODI: ETH: a contract needs its decimals"},
		{`"0xdAC17F958D2ee523a2206206994597C13D831ec7": {decimals`, `"0xdac17f958d2ee523a2206206994597c13d831ec7": {decimals`, "HOODI: contract"},
		{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xdAC17F958D2ee523a2206206994597C13D831ec7", "HOODI: allow"},
		{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "HOODI: allow"},
		{"params: devnet\n", "params: devnet\n    native: ETH\n", "ETH: native is a setting of the adapter evm"},
		{"coins: {BTC: {", "coins: {BTC: {decimals: 8, ", "BTC: BTC: decimals are a setting of the adapters evm and cosmos"},
	} {
		s, err := vault.ReadSettings(strings.NewReader(strings.Replace(settings, c.old, c.by, 1)))
		if err == nil {
			_, err = s.Open(vault.Seed{1}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: got %v, want %s", c.by, err, c.wants)
		}
	}
	if s, err := vault.ReadSettings(strings.NewReader("")); err != nil || len(s.Names()) > 0 {
		t.Errorf("empty settings: %v", err)
	}
}

// TestKnown lists what fits a sandbox and real money; the keys of one seed are the same each
// time.
func TestKnown(t *testing.T) {
	for _, isSandbox := range []bool{true, false} {
		list, err := vault.Known(vault.Seed{1}, isSandbox)
		if err != nil {
			t.Fatal(err)
		}
		again, err := vault.Known(vault.Seed{1}, isSandbox)
		if err != nil || fmt.Sprint(list) != fmt.Sprint(again) {
			t.Errorf("%v", err)
		}
		for _, n := range list {
			if isSandbox && n.Chain != "" && !signer.IsTestChain(n.Chain) || !isSandbox && n.Params == vault.Embedded {
				t.Errorf("sandbox %t has %+v", isSandbox, n)
			}
		}
	}
}
