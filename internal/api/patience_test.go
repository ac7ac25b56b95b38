package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
)

// TestPatience checks that a request ends after Patience or an earlier deadline of the
// transport, and that this counts as an internal failure, not as the client's leaving. The
// time that a client takes for the body does not count.
func TestPatience(t *testing.T) {
	for name, c := range map[string]patienceCase{
		"no bound of its own": {want: 10 * time.Second},
		"longer":              {transport: time.Minute, want: 10 * time.Second},
		"shorter":             {transport: 9 * time.Second, want: 9 * time.Second},
		"a slow body":         {body: 11 * time.Second, want: 21 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, c.run)
		})
	}
}

// patienceCase has the transport's bound of a request, the time until its body comes, and
// the time after which it must end.
type patienceCase struct{ transport, body, want time.Duration }

// slowBody is a body that comes after a time.
type slowBody struct {
	after time.Duration
	text  io.Reader
}

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(b.after)
	b.after = 0
	return b.text.Read(p)
}

func (c patienceCase) run(t *testing.T) {
	v := &api.Server{
		Who: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Clock: time.Now, Patience: 10 * time.Second, Log: slog.New(slog.DiscardHandler),
		Observe: func(string, int, bool, time.Duration) {},
	}
	mux := http.NewServeMux()
	v.Handle(mux, "/spot", endpoints(make(chan struct{}, 1)))
	ctx := t.Context()
	if c.transport > 0 {
		bounded, cancel := context.WithTimeout(ctx, c.transport)
		defer cancel()
		ctx = bounded
	}
	began, answer := time.Now(), httptest.NewRecorder()
	body := &slowBody{c.body, strings.NewReader("{}")}
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/spot/waits", body))
	if took := time.Since(began); took != c.want || answer.Code != http.StatusInternalServerError {
		t.Errorf("answered %d after %s, want %d after %s", answer.Code, took, http.StatusInternalServerError, c.want)
	}
}
