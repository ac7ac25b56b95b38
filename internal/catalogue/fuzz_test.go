package catalogue_test

import (
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse/internal/catalogue"
)

// FuzzParse reads documents: what is read says the same when it is written and
// read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "{}", "assets: []", "assets: null", "a: b", "--- {}\n--- {}",
		"assets:\n  - {symbol: AAA, name: First, scale: 8, enabled: true}\n",
		"networks:\n  - {symbol: N, name: N, assets: [{asset: AAA, precision: 8, confirms: 2, min_deposit: \"1\"}]}\n",
		"markets:\n  - {base: AAA, quote: BBB, base_precision: 2, quote_precision: 2, min_order: \"1\", maker_fee: \"0.001\"}\n",
		"x: &a [*a]", "a: &a [1,1]\nb: &b [*a,*a]\nassets: [*b,*b]", "assets: !!binary aGVsbG8=", "\xff\xfe", "assets: [{scale: -1}]", "assets: [{scale: 1e2}]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := catalogue.Parse(text)
		if err != nil {
			return
		}
		written, err := doc.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := catalogue.Parse(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		twice, err := again.Format()
		if err != nil || !reflect.DeepEqual(written, twice) {
			t.Errorf("%s\nand then\n%s %v", written, twice, err)
		}
	})
}
