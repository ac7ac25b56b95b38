package bitcoin

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// Keys m/48h/1h/0h/2h of regtest, from the seed of BIP 84 and from those of BIP 32's first two vectors.
const (
	coldA = "[73c5da0a/48h/1h/0h/2h]tpubDFH9dgzveyD8zTbPUFuLrGmCydNvxehyNdUXKJAQN8x4aZ4j6UZqGfnqFrD4NqyaTVGKbvEW54tsvPTK2UoSbCC1PJY8iCNiwTL3RWZEheQ/0/*"
	coldB = "[3442193e/48h/1h/0h/2h]tpubDEC8p4skY4i7mNjxt9yF3u7my5T6KtGLcvEDcH5rKA6XVtJN4JV3SsHWoePTqsHNh47WBkQ79r77KsUYc2PAmaqqasBJMvidbxiupZpJexg/0/*"
	coldC = "[bd16bee5/48h/1h/0h/2h]tpubDE5D8FnwpqS4CBcArpshds4FyP5GipL6RZCPqd4hyHbT6UCAZotECu3abj2YsvM8d8YQ71pAF32EQPD3D4Dwryu1WkfdMzRTLY5kvEKynNJ/0/*"
)

// TestCold holds addresses and checksums against those that Bitcoin Knots 29.5 derived.
func TestCold(t *testing.T) {
	for _, c := range []struct {
		descriptor, sum string
		addresses       []string
	}{
		{"wpkh(" + coldB + ")", "3at8xpjg", []string{
			"bcrt1q7fa4zp8vxqqry9df9y630zzj0rrkycmjhyg5jw", "bcrt1qjw86yhkc5slujaxckaqmh0jf9fj2y3l3lgzrn6",
			"bcrt1q0j4zkg07ejq0rd8g35syl5nxag32ucxxsqwaz7",
		}},
		{"wsh(sortedmulti(2," + coldA + "," + coldB + "," + coldC + "))", "9cryzu7a", []string{
			"bcrt1qnc6wagm087qyewvqgs4hggunretvv676n3hgl4q67qecx4vdnjrqcelqfe",
			"bcrt1qmzaqw4va5m4tugjw83s5eckmtxa7pj2ml4u3muhlkjsmrrzmpc6qefz654",
			"bcrt1qfvrqk0gl7kkn3ql2qw0z0cvds74dmtlh2cq4zg0yxgwvjeprwncsl7q5ge",
		}},
		{"wsh(multi(2," + coldC + "," + coldB + "))", "m2k4zeag", []string{
			"bcrt1qjde9ymp6reh4ws67sy794ze5fe4w889dvs2lxgjh9utsur50fejq5pak5x",
			"bcrt1qrs7xhzf9vskww5gd43vmknuj6janjzjyyptk39qkmp52jj22jvlqjhd9dl",
			"bcrt1qfjy6xdne4z93m4s8up6llx4cwkapxr33ztp4ny6wf5hxrzawd67skp4j67",
		}},
	} {
		cold, err := Lookup("regtest").ParseCold(c.descriptor + "#" + c.sum)
		if err != nil {
			t.Fatalf("%s: %v", c.descriptor, err)
		}
		codec := NewCodec(Lookup("regtest"), keysOf(t, "regtest").Public())
		codec.Keep(cold)
		first := codec.Shape().Cold
		for n, want := range c.addresses {
			index := first + uint32(n)
			owner, ours := codec.Owner(want, "")
			treasury := chain.Owner{Kind: chain.OwnerTreasury, Index: index, At: index}
			if got := codec.Destination(index).Address; got != want || !ours || owner != treasury {
				t.Errorf("address %d of %s is %s of %+v, want %s", n, c.descriptor, got, owner, want)
			}
			if !chain.IsCold(index) || !codec.Shape().KeepsCold(index) {
				t.Errorf("index %d is not of cold storage", index)
			}
		}
		if beyond := first + chain.ColdAddresses; chain.IsCold(beyond) || codec.Shape().KeepsCold(beyond) {
			t.Error("an index beyond the last address is of cold storage")
		}
		if _, ours := codec.Owner(cold.Address(chain.ColdAddresses), ""); ours {
			t.Error("the address beyond the last one is watched")
		}

		same, err := Lookup("regtest").ParseCold(strings.NewReplacer("h/", "'/", "h]", "']").Replace(c.descriptor))
		if err != nil || same.First() != first {
			t.Errorf("with ' for h: %v", err)
		}
	}
	for _, index := range []uint32{chain.IndexHot, chain.IndexChange, 1, 1<<31 - 1} {
		if chain.IsCold(index) {
			t.Errorf("index %d is of cold storage", index)
		}
	}
}

// TestColdRefusals checks that a descriptor of another form is refused without being repeated.
func TestColdRefusals(t *testing.T) {
	p := Lookup("regtest")
	good := "wsh(sortedmulti(2," + coldA + "," + coldB + "))"
	if _, err := p.ParseCold(good); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]string{
		"empty": "", "no script": coldA, "taproot": "tr(" + coldA + ")", "older": "pkh(" + coldA + ")",
		"open": strings.TrimSuffix(good, ")"), "nested": "sh(" + good + ")",
		"one address":    strings.ReplaceAll(good, "/0/*", "/0/7"),
		"no range":       strings.ReplaceAll(good, "/0/*", ""),
		"hardened range": strings.ReplaceAll(good, "/*", "/*h"), "hardened below": strings.ReplaceAll(good, "/0/*", "/0h/*"),
		"two branches": strings.ReplaceAll(good, "/0/*", "/<0;1>/*"), "mistyped key": strings.Replace(good, "tpubDF", "tpubDE", 1),
		"no origin":   strings.Replace(good, coldA[:strings.Index(coldA, "]")+1], "", 1),
		"other depth": strings.Replace(good, "/0h/2h]", "/2h]", 1), "other step": strings.Replace(good, "/2h]", "/1h]", 1),
		"short fingerprint": strings.Replace(good, "[73", "[", 1), "other network": strings.Replace(good, coldA, mainColdA, 1),
		"too many": strings.Replace(good, "(2,", "(3,", 1), "none": strings.Replace(good, "(2,", "(0,", 1),
		"padded": strings.Replace(good, "(2,", "(02,", 1), "no number": strings.Replace(good, "2,", "", 1),
		"twice": strings.Replace(good, coldB, coldA, 1), "two for wpkh": "wpkh(" + coldA + "," + coldB + ")",
		"wrong sum": good + "#89f8spxm", "no sum": good + "#",
		"long": strings.Repeat("(", maxColdText+1), "umlaut": "ü#89f8spxm",
	} {
		if _, err := p.ParseCold(s); err == nil {
			t.Errorf("%s was taken: %s", name, s)
		}
	}

	seed, _ := hex.DecodeString(seed84)
	private, err := hdkeychain.NewMaster(seed, p.base)
	if err != nil {
		t.Fatal(err)
	}
	text := "wpkh([73c5da0a]" + private.String() + "/0/*)"
	_, err = p.ParseCold(text)
	if err == nil || !strings.Contains(err.Error(), "private key") || strings.Contains(err.Error(), "tprv") {
		t.Errorf("a private key: %v", err)
	}
}

// mainColdA is coldA of the main network.
const mainColdA = "[73c5da0a/48h/0h/0h/2h]xpub6DkFAXWQ2dHxq2vatrt9qyA3bXYU4ToWQwCHbf5XB2mSTexcHZCeKS1VZYcPoBd5X8yVcbXFHJR9R8UCVpt82VX1VhR28mCyxUFL4r6KFrf/0/*"

// TestColdApart refuses cold storage from the seed of the exchange's own keys.
func TestColdApart(t *testing.T) {
	p, own := Lookup("regtest"), keysOf(t, "regtest").Public()
	for descriptor, wants := range map[string]error{
		"wpkh(" + coldB + ")": nil, "wsh(sortedmulti(1," + coldB + "," + coldC + "))": nil,
		"wpkh(" + coldA + ")": errColdHot, "wsh(sortedmulti(1," + coldB + "," + coldA + "))": errColdHot,
	} {
		cold, err := p.ParseCold(descriptor)
		if err != nil {
			t.Fatal(err)
		}
		if err := cold.Apart(own); !errors.Is(err, wants) {
			t.Errorf("%s: %v", descriptor, err)
		}
	}
}

// TestDescriptorSum has the vector of BIP 380.
func TestDescriptorSum(t *testing.T) {
	if sum, ok := descriptorSum("raw(deadbeef)"); !ok || sum != "89f8spxm" {
		t.Errorf("the checksum is %s", sum)
	}
}

// FuzzCold reads descriptors: what is taken is read again as the same.
func FuzzCold(f *testing.F) {
	p := Lookup("regtest")
	f.Add("wpkh(" + coldA + ")")
	f.Add("wsh(sortedmulti(2," + coldA + "," + coldB + "))#9cryzu7a")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := p.ParseCold(s)
		if err != nil {
			return
		}
		again, err := p.ParseCold(c.String())
		if err != nil || again.First() != c.First() || again.Address(3) != c.Address(3) {
			t.Errorf("%q: %v", c.String(), err)
		}
	})
}
