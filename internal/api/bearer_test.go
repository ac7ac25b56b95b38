package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

// TestBearer checks where V1 takes a key: from the body and, without one there, from a
// header Authorization with the scheme Bearer.
func TestBearer(t *testing.T) {
	const key = "Authorization"
	good, one := "Bearer s3cret-reads", `{"success":true,"account":1}`
	missing, useless := failure("MISSING_DATA", "Missing data: api_key"), failure("INVALID_KEY", "Unauthorized")
	d := newDesk(t, api.Limits{})
	for _, c := range []struct {
		body    string
		headers []string
		want    string
	}{
		{`{}`, []string{key, good}, one},
		{`{"api_key":null}`, []string{key, good}, one},
		{`{}`, []string{key, "bearer  s3cret-reads "}, one},
		{`{}`, []string{key, "Bearer s3cret-nobody"}, useless},
		{`{}`, []string{key, "Bearer"}, useless},
		{`{"api_key":"s3cret-reads"}`, []string{key, "Bearer s3cret-nobody"}, one},
		{`{"api_key":"s3cret-nobody"}`, []string{key, good}, useless},
		{`{"api_key":""}`, []string{key, good}, useless},
		{`{"api_key":7}`, []string{key, good}, failure("VALIDATION_ERROR", "api_key: must be a string")},
		{`{}`, []string{key, good, key, good}, missing},
		{`{}`, nil, missing},

		// A browser adds these to requests of any page by itself.
		{`{}`, []string{key, "Basic s3cret-reads"}, missing},
		{`{}`, []string{"Cookie", "api_key=s3cret-reads; Authorization=" + good}, missing},
	} {
		if r, got := d.ask(http.MethodPost, "/spot/who", strings.NewReader(c.body), c.headers...); r.status != http.StatusOK || got != c.want {
			t.Errorf("%s %q: %d %s, want %s", c.body, c.headers, r.status, got, c.want)
		}
	}

	r, got := d.ask(http.MethodGet, "/spot/who?api_key=s3cret-reads", strings.NewReader(`{}`))
	if got != missing {
		t.Errorf("a key in the query: %d %s", r.status, got)
	}
	d.post("/spot/maybe?api_key=s3cret-reads", `{}`, `{"success":true,"account":0}`)
	d.post("/spot/maybe", `{"api_key":"s3cret-reads"}`, one)
	d.post("/spot/maybe", `{"api_key":"s3cret-nobody"}`, useless)
	for _, c := range []struct{ query, header, account string }{
		{"", good, "1"}, {"", "Basic x", "0"}, {"?api_key=s3cret-reads", "", "0"},
	} {
		want := `{"success":true,"account":` + c.account + `}`
		if r, got := d.ask(http.MethodGet, "/spot/maybe"+c.query, http.NoBody, key, c.header); got != want {
			t.Errorf("GET %q %q: %d %s", c.query, c.header, r.status, got)
		}
	}
}

// TestBearerOfOtherOrigins checks that a page of another origin cannot make a browser send
// a key that the page does not have: a preflight asks for the header, and no answer
// allows credentials.
func TestBearerOfOtherOrigins(t *testing.T) {
	d := newDesk(t, api.Limits{})
	r, _ := d.ask(http.MethodOptions, "/spot/who", http.NoBody, "Origin", "https://a.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	if got := r.header.Get("Access-Control-Allow-Headers"); !strings.Contains(got, "Authorization") {
		t.Errorf("allowed headers are %q", got)
	}
	for _, headers := range [][]string{nil, {"Authorization", "Bearer s3cret-reads"}, {"Origin", "https://a.example"}} {
		r, _ := d.ask(http.MethodPost, "/spot/who", strings.NewReader(`{}`), headers...)
		if r.header.Get("Access-Control-Allow-Origin") != "*" || r.header.Get("Access-Control-Allow-Credentials") != "" ||
			r.header.Get("Set-Cookie") != "" {
			t.Errorf("%q: headers are %v", headers, r.header)
		}
	}
}
