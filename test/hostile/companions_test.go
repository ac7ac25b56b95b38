package hostile

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestCompanions sends the requests of companions.txt, whose paths are whole.
func TestCompanions(t *testing.T) {
	session := attacked.logIn(t, "companion@example.com")
	lay(t, "companions.txt", func(a *attack) {
		a.known["session"] = session
		r := &rested{attack: a}
		a.each(r.do)
	})
}

// logIn signs a person up and returns the key of a session.
func (x *exchange) logIn(t *testing.T, email string) string {
	t.Helper()
	person := fields{"email": email, "password": "correct horse"}
	x.enter(t, http.MethodPost, "/account/v2/signup", person)
	var letter struct{ Code string }
	if err := x.operate("mail/last", fields{"email": email}, &letter); err != nil {
		t.Fatal(err)
	}
	x.enter(t, http.MethodPatch, "/account/v2/signup", fields{"email": email, "code": letter.Code})

	var begun struct {
		Key string `json:"api_key"`
	}
	if err := json.Unmarshal(x.enter(t, http.MethodPost, "/account/login", person), &begun); err != nil || begun.Key == "" {
		t.Fatalf("no session: %v", err)
	}
	x.keep(begun.Key)
	return begun.Key
}

// enter sends a request that must succeed, and returns its answer.
func (x *exchange) enter(t *testing.T, method, path string, body fields) []byte {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, x.url(path), strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, out, err)
	}
	return out
}
