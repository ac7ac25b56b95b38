package admin_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// TestWebhooks adds, lists, tests and removes a webhook. What changes something is noted, and
// what is refused is not.
func TestWebhooks(t *testing.T) {
	o := newOffice(t)
	store, err := accounts.Open(t.Context(), filepath.Join(t.TempDir(), "accounts.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	o.Webhooks, err = webhook.Open(t.Context(), webhook.Options{
		Store: store, Bulletins: historytest.NewMemory(), Head: o.engine.Seq, Rules: webhook.Rules{Plain: true, Private: true},
		Random: rand.Reader, Clock: func() time.Time { return time.Unix(1_700_000_000, 0) }, After: time.After,
		MayAct: func(context.Context) error { return nil }, Patience: time.Minute, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	before := o.engine.Seq()

	o.answers("webhook/add", `{"url":"`+receiver.URL+`","kinds":"a"}`, `{"error":"kinds: unknown kind \"a\"; there are account.created, `+
		`account.frozen, account.unfrozen, account.tier, deposit.credited, deposit.parked, deposit.waiting, withdrawal.waiting, `+
		`withdrawal.done, withdrawal.failed, network.halted, network.paused, network.resumed, market.state"}`)
	o.answers("webhook/add", `{"url":"ftp://a","kinds":"account"}`, `{"error":"url: must begin with https://"}`)
	o.answers("webhook/list", `{}`, `{"webhooks":[]}`)
	if o.engine.Seq() != before {
		t.Error("something was noted")
	}

	shown := `"webhook":1,"url":"` + receiver.URL + `","kinds":["account","market.state"],"created":1700000000,"delivered":0`
	w := httptest.NewRecorder()
	o.Handler().ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), "POST", "/webhook/add",
		strings.NewReader(`{"url":"`+receiver.URL+`","kinds":"account,market.state"}`)))
	if want := `^\{` + regexp.QuoteMeta(shown) + `,"secret":"whsec_[A-Za-z0-9+/]{43}="\}$`; !regexp.MustCompile(want).MatchString(w.Body.String()) {
		t.Errorf("%s, want %s", w.Body, want)
	}
	o.answers("webhook/list", `{}`, `{"webhooks":[{`+shown+`}]}`)
	o.answers("webhook/test", `{"webhook":1}`, `{"error":"webhook 1: the endpoint answered 404"}`)
	o.answers("webhook/enable", `{"webhook":1}`, `{"error":"webhook 1 is not disabled"}`)
	o.answers("webhook/remove", `{"webhook":2}`, `{"error":"there is no webhook 2"}`)
	o.answers("webhook/remove", `{"webhook":1}`, `{"webhook":1}`)
	o.answers("webhook/list", `{}`, `{"webhooks":[]}`)
	if noted := o.engine.Seq() - before; noted != 4 {
		t.Errorf("%d notes", noted)
	}
}
