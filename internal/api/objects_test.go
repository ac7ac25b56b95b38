package api_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

func TestBools(t *testing.T) {
	read := func(value string) (map[string]bool, error) {
		var r api.Form
		if err := r.Parse([]byte(`{"on":`+value+`}`), api.Fields{"on"}); err != nil {
			t.Fatal(err)
		}
		list := r.Bools("on")
		return list, r.Err()
	}
	if got, err := read(`{"a":true, "\u0062":false}`); err != nil || !maps.Equal(got, map[string]bool{"a": true, "b": false}) {
		t.Errorf("%v %v", got, err)
	}
	if got, err := read(`null`); err != nil || got != nil {
		t.Errorf("absent: %v %v", got, err)
	}
	for _, bad := range []string{`true`, `[]`, `{"a":1}`, `{"a":{}}`, `{"a":null}`, `{"a":"true"}`} {
		if got, err := read(bad); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

func TestCounts(t *testing.T) {
	read := func(value string) (map[string]uint64, error) {
		var r api.Form
		if err := r.Parse([]byte(`{"since":`+value+`}`), api.Fields{"since"}); err != nil {
			t.Fatal(err)
		}
		list := r.Counts("since", 2)
		return list, r.Err()
	}
	want := map[string]uint64{"a": 0, "b": 1<<63 - 1}
	if got, err := read(`{"a":0, "\u0062":9223372036854775807}`); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	if got, err := read(`null`); err != nil || got != nil {
		t.Errorf("absent: %v %v", got, err)
	}
	for _, bad := range []string{
		`1`, `[]`, `"a"`, `{"a":"1"}`, `{"a":-1}`, `{"a":1.0}`, `{"a":1e3}`, `{"a":null}`, `{"a":9223372036854775808}`,
		`{"a":{}}`, `{"a":1,"b":2,"c":3}`,
	} {
		if got, err := read(bad); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

// TestObject parses a field that is an object into a form of its own, which is used again.
func TestObject(t *testing.T) {
	var outer, inner api.Form
	read := func(value string) (bool, error) {
		if err := outer.Parse([]byte(`{"place":`+value+`}`), api.Fields{"place"}); err != nil {
			t.Fatal(err)
		}
		is := outer.Object("place", &inner, api.Fields{"price", "amount"})
		return is, outer.Err()
	}
	if is, err := read(`{"price":"1"}`); !is || err != nil || inner.Text("price") != "1" || inner.Has("amount") {
		t.Errorf("%t %v", is, err)
	}
	if is, err := read(` {"amount" : "2", "other":{} } `); !is || err != nil || inner.Text("amount") != "2" || inner.Has("price") {
		t.Errorf("again: %t %v", is, err)
	}
	if is, err := read(`null`); is || err != nil {
		t.Errorf("absent: %t %v", is, err)
	}
	for _, bad := range []string{`1`, `"{}"`, `[]`, `[{}]`, `true`, `{"Price":"1"}`} {
		if is, err := read(bad); is || err == nil {
			t.Errorf("%s: %t %v", bad, is, err)
		}
	}
}

func TestObjects(t *testing.T) {
	read := func(value string) ([][]byte, error) {
		var r api.Form
		if err := r.Parse([]byte(`{"requests":`+value+`}`), api.Fields{"requests"}); err != nil {
			t.Fatal(err)
		}
		list := r.Objects("requests", 2)
		return list, r.Err()
	}
	for value, want := range map[string][]string{
		`null`: nil, `[]`: nil, `[{}]`: {`{}`}, "[ {\"a\":[1, {}]} ,\n{\"b\":\"]\"}]": {`{"a":[1, {}]}`, `{"b":"]"}`},
	} {
		got, err := read(value)
		if err != nil || !slices.EqualFunc(got, want, func(a []byte, b string) bool { return string(a) == b }) {
			t.Errorf("%s: %q %v", value, got, err)
		}
	}
	for _, bad := range []string{`1`, `{}`, `"[]"`, `[1]`, `[null]`, `[{},[]]`, `[{},{},{}]`} {
		if got, err := read(bad); err == nil || got != nil {
			t.Errorf("%s: %q %v", bad, got, err)
		}
	}
}
