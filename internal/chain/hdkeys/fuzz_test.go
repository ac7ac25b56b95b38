package hdkeys

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
)

// FuzzForm reads anything as an account's public keys, as a signer may send it: what is taken is kept as
// it was, derives addresses, and an error does not repeat a key.
func FuzzForm(f *testing.F) {
	form := &Form{
		Network: "BTC", Open: "wpkh(", Close: ")", Purpose: 84, CoinType: 0, Versions: &chaincfg.MainNetParams,
	}
	private, err := form.Derive(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		f.Fatal(err)
	}
	good := private.Public().String()
	origin, key, _ := strings.Cut(good, "]")
	for _, text := range []string{
		good, "", "wpkh([])", origin + "]" + private.account.String() + ")", strings.Replace(good, "0h]", "1h]", 1),
		strings.ReplaceAll(good, "h", "'"), strings.Replace(good, "0h]", "2147483648h]", 1), origin + "]" + key[:40] + ")",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := form.Parse(text)
		switch {
		case err != nil && strings.Contains(err.Error(), "xprv"):
			t.Errorf("%v names a private key", err)
		case err != nil:
			return
		}
		if k.String() != text || strings.Contains(text, "xprv") {
			t.Errorf("%q is %q", text, k)
		}
		if k.Key(1).IsEqual(k.Key(2)) {
			t.Errorf("%q has one key for two addresses", text)
		}
	})
}
