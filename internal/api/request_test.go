package api_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

var fields = api.Fields{"api_key", "offset", "obid", "symbols", "post_only", "pair"}

func TestRequestReadsFields(t *testing.T) {
	var r api.Request
	body := `{"api_key":"a\u0062c","offset": 7 ,"obid":"12","symbols":["X","\u0059"],"post_only":true,` +
		`"pair":null,"other":{"deep":[1,{"x":2}]}}` + " \n"
	for range 2 { // a request is used again and again
		if err := r.Parse([]byte(body), fields); err != nil {
			t.Fatal(err)
		}
		key, err := r.Text("api_key")
		if err != nil || key != "abc" {
			t.Errorf("api_key = %q, %v", key, err)
		}
		offset, err := r.Offset()
		if err != nil || offset != 7 {
			t.Errorf("offset = %d, %v", offset, err)
		}
		id, err := r.ID("obid")
		if err != nil || id != 12 {
			t.Errorf("obid = %d, %v", id, err)
		}
		list, err := r.Texts("symbols", 2)
		if err != nil || strings.Join(list, ",") != "X,Y" {
			t.Errorf("symbols = %v, %v", list, err)
		}
		yes, err := r.Bool("post_only")
		if err != nil || !yes {
			t.Errorf("post_only = %v, %v", yes, err)
		}
		if r.Has("pair") {
			t.Error("null is there")
		}
		if err := r.Require("api_key", "pair"); err == nil || err.Error() != "Missing data: pair" {
			t.Errorf("require: %v", err)
		}
	}
}

func TestRequestIsStrict(t *testing.T) {
	var r api.Request
	for name, body := range map[string]string{
		"empty":             ``,
		"white space":       "  ",
		"array":             `[]`,
		"string":            `"x"`,
		"cut off":           `{"pair":"x"`,
		"same name twice":   `{"pair":"x","pair":"y"}`,
		"twice, escaped":    `{"pair":"x","pa\u0069r":"y"}`,
		"twice inside":      `{"other":{"a":1,"a":2}}`,
		"unknown twice":     `{"other":1,"other":2}`,
		"case":              `{"Pair":"x"}`,
		"upper case":        `{"API_KEY":"x"}`,
		"Kelvin sign":       "{\"api_\u212aey\":\"x\"}",
		"trailing object":   `{} {}`,
		"trailing text":     `{}x`,
		"trailing NUL":      "{}\x00",
		"invalid UTF-8":     "{\"pair\":\"\xff\"}",
		"invalid in name":   "{\"\xff\":1}",
		"invalid surrogate": `{"pair":"\ud800"}`,
		"control character": "{\"pair\":\"a\nb\"}",
		"comment":           `{/**/}`,
		"single quotes":     `{'pair':'x'}`,
		"trailing comma":    `{"pair":"x",}`,
		"byte order mark":   "\ufeff{}",
		"too deep":          `{"other":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"bare number":       `{"offset":01}`,
		"not a number":      `{"offset":NaN}`,
	} {
		if err := r.Parse([]byte(body), fields); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}

func TestRequestRefusesWrongTypes(t *testing.T) {
	var r api.Request
	for _, c := range []struct {
		body string
		read func() error
	}{
		{`{"pair":1}`, func() error { _, err := r.Text("pair"); return err }},
		{`{"offset":"1"}`, func() error { _, err := r.Offset(); return err }},
		{`{"offset":1.0}`, func() error { _, err := r.Offset(); return err }},
		{`{"offset":1e2}`, func() error { _, err := r.Offset(); return err }},
		{`{"offset":-1}`, func() error { _, err := r.Offset(); return err }},
		{`{"offset":2147483648}`, func() error { _, err := r.Offset(); return err }},
		{`{"offset":9223372036854775808}`, func() error { _, err := r.Offset(); return err }},
		{`{"obid":"x"}`, func() error { _, err := r.ID("obid"); return err }},
		{`{"obid":""}`, func() error { _, err := r.ID("obid"); return err }},
		{`{"obid":"-1"}`, func() error { _, err := r.ID("obid"); return err }},
		{`{"obid":1.5}`, func() error { _, err := r.ID("obid"); return err }},
		{`{"obid":9223372036854775808}`, func() error { _, err := r.ID("obid"); return err }},
		{`{"obid":true}`, func() error { _, err := r.ID("obid"); return err }},
		{`{"symbols":"X"}`, func() error { _, err := r.Texts("symbols", 2); return err }},
		{`{"symbols":[1]}`, func() error { _, err := r.Texts("symbols", 2); return err }},
		{`{"symbols":["a","b","c"]}`, func() error { _, err := r.Texts("symbols", 2); return err }},
		{`{"post_only":"true"}`, func() error { _, err := r.Bool("post_only"); return err }},
	} {
		if err := r.Parse([]byte(c.body), fields); err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		name := strings.Split(c.body, `"`)[1]
		if err := c.read(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"api_key":"a\u0062c","offset": 7 ,"obid":"12","symbols":["X","\u0059"]}`))
	f.Add([]byte(`{"pair":null,"other":{"deep":[1,{"x":2}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r api.Request
		if r.Parse(body, fields) != nil {
			return
		}
		for _, name := range fields {
			_, _ = r.Text(name)
			_, _ = r.Int(name, 0, 10)
			_, _ = r.ID(name)
			_, _ = r.Texts(name, 3)
			_, _ = r.Bool(name)
		}
	})
}
