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
