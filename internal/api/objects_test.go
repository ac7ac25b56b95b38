package api_test

import (
	"maps"
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
