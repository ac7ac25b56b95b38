package api_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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
		{`{"offset":-0}`, func() error { _, err := r.Offset(); return err }},
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

func TestIntegersOfAnySize(t *testing.T) {
	var r api.Request
	for text, want := range map[string]string{
		"0": "0", "-0": "-0", "-12": "-12", "123456789012345678901234567890": "123456789012345678901234567890",
		"1.0": "", "1e2": "", "1E2": "", `"1"`: "", "true": "", "[1]": "",
	} {
		if err := r.Parse([]byte(`{"obid":`+text+`}`), fields); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Integer("obid"); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v", text, got, err)
		}
	}
}

// TestMisnamedFieldsCanBeRead wants the other fields of a request that is refused
// for a name in another case.
func TestMisnamedFieldsCanBeRead(t *testing.T) {
	var r api.Request
	err := r.Parse([]byte(`{"Pair":"x","obid":3,"OFFSET":1}`), fields)
	if err == nil || errors.Is(err, api.ErrNotObject) || !strings.Contains(err.Error(), `"Pair"`) {
		t.Errorf("parse: %v", err)
	}
	if id, err := r.ID("obid"); id != 3 || err != nil || r.Has("pair") || r.Has("offset") {
		t.Errorf("obid is %d, %v", id, err)
	}
}

// FuzzRequest holds what is taken against the standard library, which is less
// strict: whatever Parse takes it must take too, with the same values.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"api_key":"a\u0062c","offset": 7 ,"obid":"12","symbols":["X","\u0059"]}`))
	f.Add([]byte(`{"pair":null,"other":{"deep":[1,{"x":2}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r api.Request
		if r.Parse(body, fields) != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil || !utf8.Valid(body) {
			t.Fatalf("%q was taken: %v", body, err)
		}
		for _, name := range fields {
			value, given := want[name]
			if given = given && string(value) != "null"; r.Has(name) != given {
				t.Fatalf("%q: %s is there: %v", body, name, r.Has(name))
			}
			if given {
				checkValue(t, &r, name, value)
			}
		}
	})
}

// checkValue reads a field in every way there is.
func checkValue(t *testing.T, r *api.Request, name string, value json.RawMessage) {
	t.Helper()
	var text string
	got, err := r.Text(name)
	if isText := json.Unmarshal(value, &text) == nil; isText != (err == nil) || got != text {
		t.Errorf("%s is %q, %v, want %q", name, got, err, text)
	}
	var list []string
	if texts, err := r.Texts(name, 3); err == nil && (json.Unmarshal(value, &list) != nil || !slices.Equal(texts, list)) {
		t.Errorf("%s is %q, want %s", name, texts, value)
	}
	var n int64
	if i, err := r.Int(name, -10, 10); err == nil && (json.Unmarshal(value, &n) != nil || i != n) {
		t.Errorf("%s is %d, want %s", name, i, value)
	}
	digits := string(value)
	if digits[0] == '"' {
		digits = text
	}
	id, err := r.ID(name)
	if want, wrong := strconv.ParseUint(digits, 10, 63); (err == nil) != (wrong == nil) || err == nil && id != want {
		t.Errorf("%s is %d, %v, want %s", name, id, err, value)
	}
	if i, err := r.Integer(name); err == nil && i != string(value) {
		t.Errorf("%s is %s, want %s", name, i, value)
	}
	if yes, err := r.Bool(name); err == nil && strconv.FormatBool(yes) != string(value) {
		t.Errorf("%s is %v, want %s", name, yes, value)
	}
}
