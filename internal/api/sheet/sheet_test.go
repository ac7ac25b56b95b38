package sheet_test

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api/sheet"
)

// TestNoCellIsAFormula wants a quote before what a spreadsheet would compute, and before
// nothing else.
func TestNoCellIsAFormula(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "BTC": "BTC", "-1.5": "-1.5", "-0": "-0", "12": "12", "a=b": "a=b", "'quoted": "'quoted", "ünï": "ünï",
		"=1+1": "'=1+1", "+1": "'+1", "-1+2": "'-1+2", "-": "'-", "--1": "'--1", "-1.": "'-1.", "-.5": "'-.5", "-1e9": "'-1e9",
		"@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'=1", "\n=1": "'\n=1", "-1\n": "'-1\n",
		"＝1+1": "'＝1+1", "＋1": "'＋1", "－1": "'－1", "＠A1": "'＠A1", " =1": "' =1", "\u00a0": "\u00a0",
		";=1": ";'=1", "a; +1;b;-2": "a;' +1;b;'-2", "\u3000=1": "'\u3000=1", `a";"=1`: `a";'"=1`, "a;b": "a;b",
		`=HYPERLINK("http://x","y")`: `'=HYPERLINK("http://x","y")`,
	} {
		var text bytes.Buffer
		if err := sheet.NewWriter(&text).Rows([]string{"first", cell}, []string{cell, "last"}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&text).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%q: %v %v", cell, rows, err)
		}
		if rows[0][1] != want || rows[1][0] != want {
			t.Errorf("%q is written as %q and %q, want %q", cell, rows[0][1], rows[1][0], want)
		}
	}
}
