package describe

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/api/exports"
	"github.com/bourse-exchange/bourse/internal/api/operatorv1"
	"github.com/bourse-exchange/bourse/internal/api/pages"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// TestOperationsAreDescribed compares methods, paths, parameters and scopes with the
// documents.
func TestOperationsAreDescribed(t *testing.T) {
	for file, endpoints := range map[string][]v2.Endpoint{
		accountFile: slices.Concat(new(accountv2.Account).Endpoints(), new(exports.Exports).Endpoints()),
		webFile:     new(browser.Sessions).Endpoints(),
		wallet2File: (&walletv2.Wallet{Faucet: new(sandbox.Faucet)}).Endpoints(),
		pagesFile:   new(pages.Pages).Endpoints(),

		operatorFile: new(operatorv1.Desk).Endpoints(),
	} {
		doc := mustLoad(t, file)
		served := map[string]bool{}
		for i := range endpoints {
			e := &endpoints[i]
			served[e.Method+" "+e.Path] = true
			operationDescribed(t, doc, e)
		}
		for path := range doc.at("paths") {
			for _, method := range methods {
				if name := strings.ToUpper(method) + " " + path; doc.at("paths", path, method) != nil && !served[name] {
					t.Errorf("%s: %s is not served", file, name)
				}
			}
		}
	}
}

func operationDescribed(t *testing.T, doc document, e *v2.Endpoint) {
	t.Helper()
	name := e.Method + " " + e.Path
	o := doc.at("paths", e.Path, strings.ToLower(e.Method))
	if o == nil {
		t.Errorf("%s is not described", name)
		return
	}
	want := map[account.Scopes]string{0: "public", account.ScopeRead: "read", account.ScopeTrade: "trade", account.ScopeWithdraw: "withdraw", account.ScopeAccount: "session"}[e.Scope]
	if e.Guest {
		want = "guest"
	}
	if tags, _ := o["tags"].([]any); len(tags) != 1 || tags[0] != want {
		t.Errorf("%s is tagged %v, want %s", name, tags, want)
	}
	if o.text("operationId") == "" || o.text("summary") == "" {
		t.Errorf("%s has no name or no summary", name)
	}
	var inQuery, inBody []string
	list, _ := o["parameters"].([]any)
	for _, p := range list {
		p, _ := resolve(doc, document(p.(map[string]any)).text("$ref")).(map[string]any)
		inQuery = append(inQuery, document(p).text("name"))
	}
	body, _ := resolve(doc, o.at("requestBody").text("$ref")).(map[string]any)
	for field := range document(body).at(append(slices.Clone(jsonBody), "properties")...) {
		inBody = append(inBody, field)
	}

	if e.Method == http.MethodGet || e.Query {
		sameFields(t, name+" in the query", inQuery, e.Fields)
	}
	if e.Method != http.MethodGet {
		sameFields(t, name+" in the body", inBody, append(slices.Clone(e.Fields), "code2FA", "assertion2FA"))
	}
}

// sameFields compares the described fields of a request with the fields that it takes.
func sameFields(t *testing.T, what string, described, taken []string) {
	t.Helper()
	taken = slices.Sorted(slices.Values(taken))
	slices.Sort(described)
	if !slices.Equal(described, taken) {
		t.Errorf("%s takes %v, described are %v", what, taken, described)
	}
}

func TestExchangesThatAreWrong(t *testing.T) {
	v := mustValidator(t)
	const good = `{"sid":1,"lastAct":2,"browser":"Firefox","os":"Unknown","device":"Unknown","ip":null,"created":1,"expires":3,"current":true}`
	if err := v.Exchange("GET", "/account/v2/sessions/current?x=y", nil, 200, []byte(good)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		method, path, request string
		status                int
		answer                string
	}{
		{"GET", "/account/v2/sessions/current", "", 200, `{"sid":1}`},
		{"GET", "/account/v2/sessions/current", "", 404, good},
		{"GET", "/account/v2/sessions/current", "", 404, `{"error":{"code":"x","msg":"y"}}`},
		{"GET", "/account/v2/sessions", "", 200, good},
		{"PUT", "/account/v2/sessions", "", 200, `{}`},
		{"GET", "/account/v2/nothing", "", 200, `{}`},
		{"GET", "/account/v2/sessions/1/2", "", 200, good},
		{"POST", "/account/v2/signup", `{"email":"a@b.c"}`, 200, `{}`},
		{"POST", "/account/v2/signup", `{"email":"a@b.c","password":"12345678"}`, 200, `{"x":1}`},
	} {
		if v.Exchange(c.method, c.path, []byte(c.request), c.status, []byte(c.answer)) == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
