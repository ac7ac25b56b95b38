package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
)

// TestPatience checks that a request ends after Patience or an earlier deadline of the
// transport, and that this counts as an internal failure, not as the client's leaving.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct{ transport, want time.Duration }{
		"no bound of its own": {want: 10 * time.Second},
		"longer":              {transport: time.Minute, want: 10 * time.Second},
		"shorter":             {transport: 9 * time.Second, want: 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { patient(t, c.transport, c.want) })
		})
	}
}

func patient(t *testing.T, transport, want time.Duration) {
	v := &api.Server{
		Who: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Clock: time.Now, Patience: 10 * time.Second, Log: slog.New(slog.DiscardHandler),
		Observe: func(string, int, bool, time.Duration) {},
	}
	mux := http.NewServeMux()
	v.Handle(mux, "/spot", endpoints(make(chan struct{}, 1)))
	ctx := t.Context()
	if transport > 0 {
		bounded, cancel := context.WithTimeout(ctx, transport)
		defer cancel()
		ctx = bounded
	}
	began, answer := time.Now(), httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/spot/waits", bytes.NewBufferString("{}")))
	if took := time.Since(began); took != want || answer.Code != http.StatusInternalServerError {
		t.Errorf("answered %d after %s, want %d after %s", answer.Code, took, http.StatusInternalServerError, want)
	}
}
