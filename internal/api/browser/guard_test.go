package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestPublicURL wants pages to be let in at the public URL, whatever a proxy makes of Host, and
// at no other name.
func TestPublicURL(t *testing.T) {
	public, err := url.Parse("https://exchange.example")
	if err != nil {
		t.Fatal(err)
	}
	h := NewGuard(public, "http://", "acme.example", "").Private(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"exchange.example", "https://exchange.example", 200}, {"EXCHANGE.example:443", "https://exchange.example", 200},
		{"127.0.0.1:8080", "https://exchange.example", 200}, {"127.0.0.1:8080", "http://127.0.0.1:8080", 200},
		{"acme.example", "http://acme.example", 200}, {"exchange.example", "", 200},
		{"exchange.example", "http://exchange.example.evil.example", 403}, {"evil.example", "https://exchange.example", 403},
		{"evil.example", "http://evil.example", 403}, {"exchange.example", "https://evil.example", 403},
		{"127.0.0.1:8080", "http://127.0.0.1:8081", 403},
		{"exchange.example", "http://exchange.example", 403}, {"exchange.example:80", "http://exchange.example:80", 403}, {"", "", 403},
	} {
		r := httptest.NewRequest(http.MethodDelete, "/web/session", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("host %q, origin %q: %d %s, want %d", c.host, c.origin, w.Code, w.Body, c.want)
		}
		if hsts := w.Header().Get("Strict-Transport-Security"); hsts == "" {
			t.Error("browsers may ask without TLS")
		}
	}
}

// TestCookieName wants exchanges on one host to have cookies of their own, and production the
// name that all browsers know.
func TestCookieName(t *testing.T) {
	if a, b, c := CookieName(""), CookieName("8080"), CookieName("8081"); a != "__Host-bourse" || b != a+"-8080" || c == b {
		t.Errorf("%s, %s, %s", a, b, c)
	}
}
