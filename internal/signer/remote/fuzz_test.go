package remote

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzFrame reads frames of both directions: nothing panics, and what is read is written as it
// was meant.
func FuzzFrame(f *testing.F) {
	for _, text := range []string{
		`{"n":1,"hello":{"exchange":"09000000000000000000000000000000","sandbox":true,"incarnation":1,"term":1,"networks":[]}}`,
		`{"n":2,"signed":{"network":"BTC","after":0}}`,
		`{"n":3,"sign":{"network":"BTC","kind":1,"id":1,"coin":"BTC","amount":"100","address":"a","cost_cap":"7","raw":"AAEC"}}`,
		`{"n":1,"look":{}}`, `{"n":4,"void":{"network":"BTC","id":1}}`, `{"n":5,"status":{}}`, `{"n":6,"approve":{"amount":"1"}}`,
		`{"n":1,"greeting":{"networks":[{"name":"BTC","chain":"devnet:BTC","keys":"k"}]}}`,
		`{"n":2,"error":{"code":"spent","text":"no"}}`, `{"n":2,"record":{"chain":"","entries":[{"record":1}],"more":true}}`,
		`{}`, `null`, ``,
	} {
		head := []byte{0, 0, byte(len(text) >> 8), byte(len(text))}
		f.Add(append(head, text...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again[request](t, b)
		if a := again[reply](t, b); a != nil && a.Error != nil {
			_ = a.Error.err().Error()
		}
	})
}

// again reads a frame, writes it and reads it again; nil if it is none.
func again[M any](t *testing.T, b []byte) *M {
	t.Helper()
	first, second := new(M), new(M)
	if readFrame(bytes.NewReader(b), first) != nil {
		return nil
	}
	var out bytes.Buffer
	if err := writeFrame(&out, first); err != nil {
		if len(b) < MaxFrame/2 {
			t.Fatal(err)
		}
		return first
	}
	if err := readFrame(&out, second); err != nil {
		t.Fatalf("cannot read what was written: %v", err)
	}
	var twice, once bytes.Buffer
	if err := writeFrame(&once, first); err != nil {
		t.Fatal(err)
	}
	if err := writeFrame(&twice, second); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Errorf("%v differs from %v: %v", reflect.ValueOf(first).Elem(), reflect.ValueOf(second).Elem(), err)
	}
	return first
}
