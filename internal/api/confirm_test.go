package api_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// TestConfirm withholds answers of a process that may be the exchange no more: those to reads and to commands, and
// errors, which are read somewhere too. That a request had no effect is said in any case, and at once.
func TestConfirm(t *testing.T) {
	elsewhere := bourse.Errorf(bourse.CodeUnavailable, "not taken")
	full := bourse.Errorf(bourse.CodeFull, "full")
	var confirmed error
	asked := 0
	s := &api.Server{
		Who: gate{}, Signed: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }, Clock: time.Now,
		Patience: time.Minute, Log: slog.New(slog.DiscardHandler), Observe: func(string, int, bool, time.Duration) {},
		Confirm: func(context.Context) error {
			asked++
			return confirmed
		},
	}
	mux := http.NewServeMux()
	answer := func(err error) func(*api.Call) error { return func(*api.Call) error { return err } }
	s.Handle(mux, "/spot", []api.Endpoint{
		{Path: "/read", Answer: answer(nil)},
		{Path: "/missing", Answer: answer(bourse.Errorf(bourse.CodeNotFound, "not found"))},
		{Path: "/order", Class: api.Orders, Answer: answer(nil)},
		{Path: "/elsewhere", Class: api.Orders, Answer: answer(elsewhere)},
		{Path: "/busy", Class: api.Orders, Answer: answer(bourse.ErrBusy)},
		{Path: "/full", Class: api.Orders, Answer: answer(full)},
	})
	ask := func(path string) string {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/spot"+path, nil))
		return w.Body.String()
	}

	const good = `{"success":true}`
	old := failure("TIMEOUT", "Another node may lead the exchange now; ask again")
	for path, says := range map[string][2]string{
		"/read":      {good, old},
		"/missing":   {failure("NOT_FOUND", "not found"), old},
		"/order":     {good, failure("TIMEOUT", "Outcome unknown")},
		"/elsewhere": {failure("UNAVAILABLE", "not taken"), failure("UNAVAILABLE", "not taken")},
		"/busy":      {failure("RATE_LIMIT", "Too many requests"), failure("RATE_LIMIT", "Too many requests")},
		"/full":      {failure("DISK_FULL", "full"), failure("DISK_FULL", "full")},
	} {
		for i, err := range []error{nil, errors.New("no majority")} {
			confirmed = err
			if got := ask(path); got != says[i] {
				t.Errorf("%s, %v: %s, want %s", path, err, got, says[i])
			}
		}
	}
	if asked != 6 {
		t.Errorf("asked %d times, and three answers were given twice that depend on others", asked)
	}
}
