package operatorv1_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// TestMarketsPauseAtOnce has an operator stop all markets, and two owners open one of them.
func TestMarketsPauseAtOnce(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOperator, bourse.RoleViewer)
	ann, bob, cy, viewer := staff[0], staff[1], staff[2], staff[3]
	states := func() map[bourse.MarketState]int {
		n := map[bourse.MarketState]int{}
		for _, m := range e.View.Catalogue().Markets[1:] {
			n[m.State]++
		}
		return n
	}
	all := states()[bourse.MarketOpen]
	ann.confirmed("PUT /markets/BTC-USDT/state", `{"state":"cancel_only","reason":"odd prices"}`, 200, "")

	const pause, resume = "POST /markets/pause", "POST /markets/resume"
	viewer.wants(pause, `{"reason":"x"}`, 403, "it takes the role operator")
	cy.confirmed(pause, `{"state":"delisted","reason":"x"}`, 400, "")
	cy.confirmed(pause, `{"pairs":["XYZ/USDT"],"reason":"x"}`, 404, "")
	cy.confirmed(pause, `{"pairs":["ETH/USDT"],"state":"cancel_only","reason":"x"}`, 200, `{"pairs":["ETH/USDT"]}`)
	paused := cy.confirmed(pause, `{"reason":"a break-in"}`, 200, "")
	if got := states(); got[bourse.MarketOpen] != 0 || got[bourse.MarketHalted] != all-2 || got[bourse.MarketCancelOnly] != 2 {
		t.Errorf("states %v of %d", got, all)
	}
	if strings.Count(paused, "/") != all-2 || strings.Contains(paused, "BTC/USDT") {
		t.Errorf("paused: %s", paused)
	}
	cy.confirmed(pause, `{"reason":"once more"}`, 200, `{"pairs":[]}`)

	cy.wants(resume, `{"pairs":["ETH/USDT"],"reason":"x"}`, 403, "it takes the role owner")
	ann.confirmed(resume, `{"reason":"all well"}`, 400, "")
	ann.confirmed(resume, fmt.Sprintf(`{"pairs":[%s"ETH/USDT"],"reason":"all well"}`, strings.Repeat(`"ETH/USDT",`, 32)), 400, "")
	ann.confirmed(resume, `{"pairs":["ETH/USDT","ETH/USDT"],"reason":"all well"}`, 400,
		`{"error":{"code":"VALIDATION_ERROR","msg":"pairs: ETH/USDT is named twice"}}`)
	if acts := e.View.Acts(); len(acts) != 0 {
		t.Errorf("acts wait: %+v", acts)
	}
	open := ann.waits(ann.confirmed(resume, `{"pairs":["ETH/USDT"],"reason":"all well"}`, 200, ""))
	if states()[bourse.MarketOpen] != 0 {
		t.Error("one owner opened a market")
	}
	bob.approves(open, 200)
	if m := e.View.Catalogue().Market("ETH/USDT"); m.State != bourse.MarketOpen {
		t.Errorf("it is %s", m.State)
	}
}

// TestNoticesByHTTP publishes and withdraws a notice, and wants the log to tell who did and why.
func TestNoticesByHTTP(t *testing.T) {
	e := newExchange(t)
	var err error
	if e.Notices, err = notice.Open(t.Context(), e.store, func() time.Time { return e.now.Std() }); err != nil {
		t.Fatal(err)
	}
	staff := e.staff(bourse.RoleOperator, bourse.RoleViewer)
	cy, viewer := staff[1], staff[2]
	const say, text = "POST /notices", `{"kind":"banner","title":"Maintenance","body":"Tonight.","reason":"an upgrade"}`

	viewer.wants(say, text, 403, "it takes the role operator")
	cy.confirmed(say, `{"kind":"banner","title":"","body":"b","reason":"x"}`, 400, "")
	if got := cy.confirmed(say, text, 200, ""); !strings.HasPrefix(got, `{"id":1,"kind":"banner","title":"Maintenance","body":"Tonight.",`) {
		t.Error(got)
	}
	viewer.wants("GET /notices", "", 200, `"id":1,`)
	cy.confirmed("POST /notices/2/end", `{"reason":"x"}`, 404, "")
	cy.confirmed("POST /notices/1/end", `{"reason":"it is done"}`, 200, "")
	viewer.wants("GET /notices?before=2", "", 200, `"ended":`)
	viewer.wants("GET /log", "", 200, `operator 2: notice add banner \"Maintenance\": an upgrade`)
	viewer.wants("GET /log", "", 200, "operator 2: notice end 1: it is done")
}

// TestWebhooksByHTTP adds, tests and removes a webhook, which owners do.
func TestWebhooksByHTTP(t *testing.T) {
	e := newExchange(t)
	var err error
	if e.Webhooks, err = webhook.Open(t.Context(), webhook.Options{
		Store: e.store, Bulletins: historytest.NewMemory(), Head: e.engine.Seq, Rules: webhook.Rules{Plain: true, Private: true},
		Random: rand.Reader, Clock: func() time.Time { return e.now.Std() }, After: time.After,
		MayAct: func(context.Context) error { return nil }, Patience: time.Minute, Log: slog.New(slog.DiscardHandler),
	}); err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	staff := e.staff(bourse.RoleOperator)
	ann, cy := staff[0], staff[1]

	add := fmt.Sprintf(`{"url":"%s/secret-path","kinds":"account","reason":"the ledger's program"}`, receiver.URL)
	cy.wants("POST /webhooks", add, 403, "it takes the role owner")
	ann.confirmed("POST /webhooks", strings.Replace(add, `"account"`, `"a"`, 1), 400, "")
	if got := ann.confirmed("POST /webhooks", add, 200, ""); !strings.Contains(got, `"secret":"whsec_`) {
		t.Error(got)
	}
	cy.wants("GET /webhooks", "", 200, `{"webhooks":[{"webhook":1,`)
	if w := cy.ask("GET /webhooks", ""); strings.Contains(w.Body.String(), "whsec_") {
		t.Errorf("the list has secrets: %s", w.Body)
	}
	whole, stub := fmt.Sprintf(`"url":"%s/secret-path"`, receiver.URL), fmt.Sprintf(`"url":"%s/…"`, receiver.URL)
	ann.wants("GET /webhooks", "", 200, whole)
	ann.makesKey("operate", "").wants("GET /webhooks", "", 200, stub)
	for _, who := range staff[1:] {
		who.wants("GET /webhooks", "", 200, stub)
	}
	ann.confirmed("POST /webhooks/1/test", `{"reason":"does it answer"}`, 406, "")
	ann.confirmed("POST /webhooks/1/enable", `{"reason":"x"}`, 406, "")
	ann.confirmed("POST /webhooks/1/remove", `{"reason":"it does not"}`, 200, `{"webhook":1}`)
	cy.wants("GET /webhooks", "", 200, `{"webhooks":[]}`)
	for _, noted := range []string{"webhook add account of 127.0.0.1", "webhook test 1: does it answer", "webhook remove 1: it does not"} {
		cy.wants("GET /log", "", 200, "operator 1: "+noted)
	}
	if w := cy.ask("GET /log", ""); strings.Contains(w.Body.String(), "secret-path") {
		t.Errorf("the log has the path: %s", w.Body)
	}
}
