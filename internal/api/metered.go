package api

import (
	"net/http"
	"net/netip"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/wire"
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
			return
		}

		m := &meter{ResponseWriter: w}
		next.ServeHTTP(m, r)
		l.ChargeAnswer(Reads, who, m.size)
	})
}

// AdmitPage counts a request that an http.Handler answers by itself, and reports whether its
// payer is within the limit. It sets the headers of the limit, and answers a refusal.
func (l *Limiter) AdmitPage(w http.ResponseWriter, who Payer) bool {
	standing, ok := l.admit(Reads, who, 1)
	standing.tell(w)
	if !ok {
		Refuse(w, &account.LimitError{Limit: bourse.ErrBusy, Wait: standing.Next})
	}
	return ok
}

// Refuse answers a request beyond a limit in V1's form, for handlers that are no endpoints.
func Refuse(w http.ResponseWriter, limit *account.LimitError) {
	out := wire.NewWriter(nil)
	writeErrorV1(out, Known(limit))
	out.EndObject()

	retryAfter(w.Header(), limit.Wait)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = w.Write(out.Bytes())
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
