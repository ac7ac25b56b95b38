package edge

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestMetricsKnowTheirHost wants pages of other names to read nothing, whatever
// address their name leads to.
func TestMetricsKnowTheirHost(t *testing.T) {
	h := KnownHost("metrics.internal", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:9100": 200, "127.0.0.1:9100": 200, "127.1.2.3": 200, "[::1]:9100": 200, "[::1]": 200,
		"metrics.internal:9100": 200, "Metrics.Internal": 200, "192.0.2.7:9100": 200, "[::ffff:192.0.2.7]": 200,
		"": 421, "evil.example": 421, "evil.example:9100": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
		"localhost:1.evil.example": 421, "192.0.2.8": 421, "metrics.internal.evil.example": 421, "0": 421, "2130706433": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		here := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 9100}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, here)))
		if w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

// TestOtherListenersHost wants the name of the operators' listener to be refused in every form in which a browser
// sends it.
func TestOtherListenersHost(t *testing.T) {
	for other, hosts := range map[string]map[string]int{
		"desk.example.com": {
			"desk.example.com": 421, "desk.example.com:8443": 421, "DESK.example.com": 421, "desk.example.com.": 421,
			"desk.example.com.:8443": 421, "exchange.example.com": 200, "x.desk.example.com": 200, "": 200,
		},
		"localhost:8090": {"localhost:8090": 421, "LOCALHOST:8090": 421, "localhost:8080": 200, "localhost": 200},
	} {
		h := OtherHost(other, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		for host, want := range hosts {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != want {
				t.Errorf("host %q beside %s: %d, want %d", host, other, w.Code, want)
			}
		}
	}
}
