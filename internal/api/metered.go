package api

import (
	"net/http"
	"net/netip"
)

// Metered counts the requests of pages that need no secret, and the bytes of their
// answers, against the source. from returns the address that a request came from.
func (l *Limiter) Metered(from func(*http.Request) netip.Addr, next http.Handler) http.Handler {
	if l == nil {
		return next
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := Payer{Source: from(r)}
		if !l.Admit(Reads, who) {
			w.Header()["Retry-After"] = retryAfter
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}

		m := &meter{ResponseWriter: w}
		next.ServeHTTP(m, r)
		l.ChargeAnswer(Reads, who, m.size)
	})
}

// meter counts the bytes of an answer.
type meter struct {
	http.ResponseWriter
	size int
}

// Write writes a part of the answer.
func (m *meter) Write(p []byte) (int, error) {
	m.size += len(p)
	return m.ResponseWriter.Write(p)
}
