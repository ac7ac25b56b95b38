package api_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// TestPatience checks that a request ends after Patience or an earlier deadline of the
// transport with an error that says so, and is no failure of the exchange. The time that a
// client takes for the body does not count.
func TestPatience(t *testing.T) {
	slow := failure("TIMEOUT", "The exchange took too long to answer; ask again")
	for name, c := range map[string]patienceCase{
		"no bound of its own": {want: 10 * time.Second, says: slow},
		"longer":              {transport: time.Minute, want: 10 * time.Second, says: slow},
		"shorter":             {transport: 9 * time.Second, want: 9 * time.Second, says: slow},
		"a slow body":         {body: 11 * time.Second, want: 21 * time.Second, says: slow},
		"a command":           {class: api.Cancels, want: 10 * time.Second, says: failure("TIMEOUT", "Outcome unknown")},
		"a key": {
			scope: account.ScopeRead, want: 10 * time.Second,
			says: failure("UNAVAILABLE", "The key cannot be looked up now; try again later"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, c.run)
		})
	}
}

// patienceCase has the transport's bound of a request, the time until its body comes, the
// endpoint's class and scope, the time after which the request must end, and its answer.
type patienceCase struct {
	transport, body, want time.Duration
	class                 api.Class
	scope                 account.Scopes
	says                  string
}

// closedGate answers only when its context ends.
type closedGate struct{}

func (closedGate) Authenticate(ctx context.Context, _ account.Secret, _ netip.Addr) (who account.Identity, err error) {
	<-ctx.Done()
	return who, fmt.Errorf("looking up: %w", ctx.Err())
}

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
		Who: closedGate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Clock: time.Now, Patience: 10 * time.Second, Log: slog.New(slog.DiscardHandler),
		Observe: func(string, int, bool, time.Duration) {},
	}
	mux := http.NewServeMux()
	v.Handle(mux, "/spot", []api.Endpoint{{
		Path: "/waits", Class: c.class, Scope: c.scope, Answer: func(c *api.Call) error {
			<-c.Context.Done()
			return fmt.Errorf("history: %w", c.Context.Err())
		},
	}})

	ctx := t.Context()
	if c.transport > 0 {
		bounded, cancel := context.WithTimeout(ctx, c.transport)
		defer cancel()
		ctx = bounded
	}

	began, answer := time.Now(), httptest.NewRecorder()
	body := &slowBody{c.body, strings.NewReader(`{"api_key":"x"}`)}
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/spot/waits", body))
	if took := time.Since(began); took != c.want || answer.Code != http.StatusOK || answer.Body.String() != c.says {
		t.Errorf("answered %d %s after %s, want 200 %s after %s", answer.Code, answer.Body, took, c.says, c.want)
	}
}
