package api

import (
	"net/http"
	"net/netip"
)

// Metered limits a handler that needs no secret by source: it counts requests, and the
// bytes of their answers. from returns a client's address.
func (l *Limiter) Metered(from func(*http.Request) netip.Addr, next http.Handler) http.Handler {
	if l == nil {
		return next
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := Payer{Source: from(r)}
		if !l.AdmitPage(w, who) {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}

		m := &meter{ResponseWriter: w}
		next.ServeHTTP(m, r)
		l.ChargeAnswer(Reads, who, m.size)
	})
}

// AdmitPage counts a request that an http.Handler answers by itself, and reports whether its
// payer is within the limit. It sets the headers of the limit.
func (l *Limiter) AdmitPage(w http.ResponseWriter, who Payer) bool {
	standing, ok := l.admit(Reads, who, 1)
	standing.tell(w)
	if !ok {
		retryAfter(w.Header(), standing.Next)
	}
	return ok
}

// meter counts the bytes of an answer.
type meter struct {
	http.ResponseWriter
	size int
}

// Write counts and writes a part of the answer.
func (m *meter) Write(p []byte) (int, error) {
	m.size += len(p)
	return m.ResponseWriter.Write(p)
}
