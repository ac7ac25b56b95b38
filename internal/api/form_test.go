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
	var r api.Form
	body := `{"api_key":"a\u0062c","offset": 7 ,"obid":"12","symbols":["X","\u0059"],"post_only":true,` +
		`"pair":null,"other":{"deep":[1,{"x":2}]}}` + " \n"
	for range 2 { // a form is reused
		if err := r.Parse([]byte(body), fields); err != nil {
			t.Fatal(err)
		}
		if key := r.Text("api_key"); key != "abc" {
			t.Errorf("api_key = %q", key)
		}
		if offset := r.Offset(); offset != 7 {
			t.Errorf("offset = %d", offset)
		}
		if id := r.ID("obid"); id != 12 {
			t.Errorf("obid = %d", id)
		}
		if list := r.Texts("symbols", 2); strings.Join(list, ",") != "X,Y" {
			t.Errorf("symbols = %v", list)
		}
		if !r.Bool("post_only") {
			t.Error("post_only is false")
		}
		if r.Has("pair") || r.Err() != nil {
			t.Errorf("null is there, or %v", r.Err())
		}
		if r.Require("api_key", "pair"); r.Err() == nil || r.Err().Error() != "Missing data: pair" {
			t.Errorf("require: %v", r.Err())
		}
	}
}

// TestFirstErrorSticks checks that fields read after an error are zero, and that the
// first error stays.
func TestFirstErrorSticks(t *testing.T) {
	var f api.Form
	body := `{"api_key":1,"offset":7,"obid":"12","symbols":["X"],"post_only":true,"pair":"A/B"}`
	if err := f.Parse([]byte(body), fields); err != nil {
		t.Fatal(err)
	}
	f.Fail(nil)
	if f.Offset() != 7 || f.Err() != nil {
		t.Errorf("no error sticks: %v", f.Err())
	}

	f.Text("api_key")
	first := f.Err()
	f.Require("api_key", "pair")
	f.Fail(api.Invalid("pair", "is not known"))
	zero := f.Text("pair") == "" && f.Int("offset", 3, 9) == 0 && f.Integer("offset") == "" && f.ID("obid") == 0 &&
		f.Texts("symbols", 2) == nil && !f.Bool("post_only") && f.Bools("pair") == nil && f.TextOrTexts("pair", 1) == nil &&
		api.Read(&f, "pair", strconv.Atoi) == 0
	if !zero || !f.Has("pair") {
		t.Error("a field was read after an error, or is not there any more")
	}
	if !errors.Is(f.Err(), first) || first == nil || first.Error() != "api_key: must be a string" {
		t.Errorf("the error is %v", f.Err())
	}

	if err := f.Parse([]byte(`{}`), fields); err != nil || f.Err() != nil {
		t.Errorf("a new request begins with %v, %v", err, f.Err())
	}
}

func TestRequestIsStrict(t *testing.T) {
	var r api.Form
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
	var r api.Form
	for _, c := range []struct {
		body string
		read func()
	}{
		{`{"pair":1}`, func() { r.Text("pair") }},
		{`{"offset":"1"}`, func() { r.Offset() }},
		{`{"offset":1.0}`, func() { r.Offset() }},
		{`{"offset":1e2}`, func() { r.Offset() }},
		{`{"offset":-0}`, func() { r.Offset() }},
		{`{"offset":-1}`, func() { r.Offset() }},
		{`{"offset":2147483648}`, func() { r.Offset() }},
		{`{"offset":9223372036854775808}`, func() { r.Offset() }},
		{`{"obid":"x"}`, func() { r.ID("obid") }},
		{`{"obid":""}`, func() { r.ID("obid") }},
		{`{"obid":"-1"}`, func() { r.ID("obid") }},
		{`{"obid":1.5}`, func() { r.ID("obid") }},
		{`{"obid":9223372036854775808}`, func() { r.ID("obid") }},
		{`{"obid":true}`, func() { r.ID("obid") }},
		{`{"symbols":"X"}`, func() { r.Texts("symbols", 2) }},
		{`{"symbols":[1]}`, func() { r.Texts("symbols", 2) }},
		{`{"symbols":["a","b","c"]}`, func() { r.Texts("symbols", 2) }},
		{`{"post_only":"true"}`, func() { r.Bool("post_only") }},
	} {
		if err := r.Parse([]byte(c.body), fields); err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		name := strings.Split(c.body, `"`)[1]
		c.read()
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

func TestIntegersOfAnySize(t *testing.T) {
	var r api.Form
	for text, want := range map[string]string{
		"0": "0", "-0": "-0", "-12": "-12", "123456789012345678901234567890": "123456789012345678901234567890",
		"1.0": "", "1e2": "", "1E2": "", `"1"`: "", "true": "", "[1]": "",
	} {
		if err := r.Parse([]byte(`{"obid":`+text+`}`), fields); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Integer("obid"), r.Err(); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v", text, got, err)
		}
	}
}

// TestMisnamedFieldsCanBeRead checks that other fields can be read after a name in
// another case.
func TestMisnamedFieldsCanBeRead(t *testing.T) {
	var r api.Form
	err := r.Parse([]byte(`{"Pair":"x","obid":3,"OFFSET":1}`), fields)
	if err == nil || errors.Is(err, api.ErrNotObject) || !strings.Contains(err.Error(), `"Pair"`) {
		t.Errorf("parse: %v", err)
	}
	if id, err := r.ID("obid"), r.Err(); id != 3 || err != nil || r.Has("pair") || r.Has("offset") {
		t.Errorf("obid is %d, %v", id, err)
	}
}

// FuzzRequest compares Parse with the standard library, which is less strict: it must
// accept all that Parse accepts, with the same values.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"api_key":"a\u0062c","offset": 7 ,"obid":"12","symbols":["X","\u0059"]}`))
	f.Add([]byte(`{"pair":null,"other":{"deep":[1,{"x":2}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r api.Form
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
				checkValue(t, body, name, value)
			}
		}
	})
}

// checkValue reads a field with every method.
func checkValue(t *testing.T, body []byte, name string, value json.RawMessage) {
	t.Helper()
	var r api.Form
	fresh := func() *api.Form { // the error of one reading must not affect the next
		if err := r.Parse(body, fields); err != nil {
			t.Fatal(err)
		}
		return &r
	}
	var text string
	got, err := fresh().Text(name), r.Err()
	if isText := json.Unmarshal(value, &text) == nil; isText != (err == nil) || got != text {
		t.Errorf("%s is %q, %v, want %q", name, got, err, text)
	}
	var list []string
	texts, err := fresh().Texts(name, 3), r.Err()
	if err == nil && (json.Unmarshal(value, &list) != nil || !slices.Equal(texts, list)) {
		t.Errorf("%s is %q, want %s", name, texts, value)
	}
	var n int64
	if i, err := fresh().Int(name, -10, 10), r.Err(); err == nil && (json.Unmarshal(value, &n) != nil || i != n) {
		t.Errorf("%s is %d, want %s", name, i, value)
	}
	digits := string(value)
	if digits[0] == '"' {
		digits = text
	}
	id, err := fresh().ID(name), r.Err()
	if want, wrong := strconv.ParseUint(digits, 10, 63); (err == nil) != (wrong == nil) || err == nil && id != want {
		t.Errorf("%s is %d, %v, want %s", name, id, err, value)
	}
	if i, err := fresh().Integer(name), r.Err(); err == nil && i != string(value) {
		t.Errorf("%s is %s, want %s", name, i, value)
	}
	if yes, err := fresh().Bool(name), r.Err(); err == nil && strconv.FormatBool(yes) != string(value) {
		t.Errorf("%s is %v, want %s", name, yes, value)
	}
}
