package signer

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"
)

// FuzzLine reads lines of the record, with checksums that are right: what is read
// stands in the record as it is written.
func FuzzLine(f *testing.F) {
	good := entry{Coin: "BTC", Amount: "17", Time: 3, Raw: []byte("raw")}
	line, err := good.line()
	if err != nil {
		f.Fatal(err)
	}
	_, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	for _, s := range []string{string(text), "", "{}", "null", "[]", `{"amount":"-1"}`, `{"amount":"1e3"}`, `{"hash":"zz"}`, `{"raw":"*"}`, `{"time":1.5}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, ok := parseLine(fmt.Appendf(nil, "%08x %s", crc32.Checksum(text, castagnoli), text))
		if !ok {
			return
		}
		e.amount()
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		again, ok := parseLine(bytes.TrimSuffix(line, []byte("\n")))
		if !ok {
			t.Fatalf("cannot read what was written: %s", line)
		}
		twice, err := again.line()
		if err != nil || !bytes.Equal(line, twice) {
			t.Errorf("%s and then %s: %v", line, twice, err)
		}
	})
}
