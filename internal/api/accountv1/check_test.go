package accountv1_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv1"
)

const (
	good = "good"
	away = "away"
)

// gate accepts one secret, and fails at another.
type gate struct{}

func (gate) Authenticate(_ context.Context, secret account.Secret, _ netip.Addr) (account.Identity, error) {
	switch secret {
	case good:
		return account.Identity{Account: 1}, nil
	case away:
		return account.Identity{}, bourse.Errorf(bourse.CodeUnavailable, "Accounts are away")
	}
	return account.Identity{}, account.ErrUnauthorized
}

// TestCheckedKeysAreGuarded checks more bad keys than a source may show. Good ones are told
// from them nonetheless, and a failure is no verdict.
func TestCheckedKeysAreGuarded(t *testing.T) {
	frozen := func() time.Time { return time.Unix(1_700_000_000, 0) }
	limits := api.NewLimiter(api.Limits{FailedAuth: api.Rate{PerSecond: 1, Burst: 3}}, frozen)
	s := &api.Server{
		From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }, Limits: limits, Clock: frozen,
		Patience: time.Minute, Log: slog.New(slog.DiscardHandler), Observe: func(string, int, bool, time.Duration) {},
	}
	mux := http.NewServeMux()
	s.Handle(mux, "", (&accountv1.Account{Who: limits.Guard(gate{})}).Endpoints())
	check := func(key string, status int, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		body := strings.NewReader(`{"api_key":"` + key + `"}`)
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/session/check", body))
		if w.Code != status || w.Body.String() != want {
			t.Errorf("%q: %d %s, want %d %s", key, w.Code, w.Body, status, want)
		}
	}

	for range 3 {
		check("bad", http.StatusOK, `{"success":true,"valid":false}`)
	}
	for range 2 {
		check("bad", http.StatusTooManyRequests, `{"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`)
		check(good, http.StatusOK, `{"success":true,"valid":true}`)
		check(away, http.StatusOK, `{"success":false,"error":"Accounts are away","code":"UNAVAILABLE"}`)
	}
}
