package connect_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// cold is a descriptor of the main network, from the seed of BIP 32's first vector.
const cold = "wpkh([3442193e/48h/0h/0h/2h]xpub6E64WfdQwBGz85XhbZryr9gUGUPBgoSu5WV6tJWpzAvgAmpVpdPHkT3XYm9R5J6MeWzvLQoz4q845taC9Q28XutbptxAmg7q8QPkjvTL4oi/0/*)"

// TestColdSetting watches cold storage, and shows its first addresses. A sandbox without keys compares those of its seed.
func TestColdSetting(t *testing.T) {
	text := strings.Replace(block(t), "params: mainnet", "cold: \""+cold+"\"\n  params: mainnet", 1)
	list, err := connect.ParseProduction([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l := connect.Local{Clock: func() bourse.Time { return 0 }, Native: "BTC"}
	reports, err := list[0].Survey(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, a := range reports[0].Addresses {
		if strings.HasPrefix(a.Of, "cold ") {
			shown = append(shown, a.Of+" "+a.Address)
		}
	}
	if len(shown) != 3 || !strings.HasPrefix(shown[0], "cold 0 bc1q") || !strings.HasPrefix(shown[2], "cold 2 bc1q") {
		t.Fatalf("it shows %q", shown)
	}

	for theirs, wants := range map[string]string{cold: "", "": "the signer has another cold storage", cold + "x": "the signer has another"} {
		_, keys, _ := strings.Cut(text, `keys: "`)
		keys, _, _ = strings.Cut(keys, `"`)
		status := &signer.Status{Networks: []signer.NetworkStatus{{Name: "BTC", Chain: list[0].Chain, Keys: keys, Cold: theirs}}}
		reports, err := list[0].Survey(t.Context(), l, status)
		if err != nil {
			t.Fatal(err)
		}
		problems := strings.Join(reports[0].Problems, "; ")
		if (wants == "") != !strings.Contains(problems, "cold storage") || !strings.Contains(problems, wants) {
			t.Errorf("with %q at the signer: %s", theirs, problems)
		}
	}

	c, err := list[0].Connect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	owner, ours := c.Network.Owner(strings.Fields(shown[0])[2], "")
	if !ours || owner.Kind != chain.OwnerTreasury || owner.At != c.Network.Shape().Cold {
		t.Errorf("its first address is of %+v", owner)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}

	sandbox := strings.Replace(good, "params: regtest", "params: regtest\n    cold: \""+ownCold(t, "regtest")+"\"", 1)
	list, _, err = connect.ReadSandbox(strings.NewReader(sandbox))
	if err != nil {
		t.Fatal(err)
	}
	l.Seed = make([]byte, 32)
	if _, err := list[1].Connect(t.Context(), l); err == nil || !strings.Contains(err.Error(), "of the signer's own seed") {
		t.Errorf("a sandbox's own seed: %v", err)
	}
}
