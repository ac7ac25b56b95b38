package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// TestMetered checks that pages count by source, and large ones by size.
func TestMetered(t *testing.T) {
	w := newWatch()
	l := NewLimiter(Limits{Source: SourceRates{Requests: Rate{PerSecond: 1, Burst: 6}}}, w.read)
	from := func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) }
	h := l.Metered(from, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 4 {
			_, _ = w.Write(make([]byte, 10<<10)) // 40 KiB weigh as 5 requests more
		}
	}))
	ask := func(from string, want int) {
		t.Helper()
		r, got := httptest.NewRequest(http.MethodGet, "/docs", http.NoBody), httptest.NewRecorder()
		r.Header.Set("From", from)
		h.ServeHTTP(got, r)
		if got.Code != want || (got.Header().Get("Retry-After") != "") != (want == http.StatusTooManyRequests) {
			t.Errorf("%s: %d %v, want %d", from, got.Code, got.Header(), want)
		}
		const refusal = `{"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`
		if refused := want != http.StatusOK; refused && (got.Body.String() != refusal ||
			got.Header().Get("Content-Type") != "application/json") {
			t.Errorf("%s: %v %s", from, got.Header(), got.Body)
		}
	}
	ask("192.0.2.1", http.StatusOK)
	ask("192.0.2.1", http.StatusTooManyRequests)
	ask("192.0.2.2", http.StatusOK)
	w.now = w.now.Add(time.Second)
	ask("192.0.2.1", http.StatusOK)
	ask("192.0.2.1", http.StatusTooManyRequests)
	w.now = w.now.Add(5 * time.Second)
	ask("192.0.2.1", http.StatusTooManyRequests)
	w.now = w.now.Add(time.Second)
	ask("192.0.2.1", http.StatusOK)
}

// TestNothingIsMeteredWithoutLimits checks that a nil limiter returns the handler itself.
func TestNothingIsMeteredWithoutLimits(t *testing.T) {
	var l *Limiter
	got := httptest.NewRecorder()
	l.Metered(nil, http.NotFoundHandler()).ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/docs", http.NoBody))
	if got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}
