package describe

import (
	"maps"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv1"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	"github.com/bourse-exchange/bourse/internal/api/infov1"
	"github.com/bourse-exchange/bourse/internal/api/p2pv1"
	"github.com/bourse-exchange/bourse/internal/api/pages"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
)

// TestEndpointsAreDescribed compares the served paths, fields and scopes with the
// documents.
func TestEndpointsAreDescribed(t *testing.T) {
	for file, endpoints := range map[string][]api.Endpoint{
		spotFile:     new(spotv1.Spot).Endpoints(),
		infoFile:     new(infov1.Info).Endpoints(),
		p2pFile:      p2pv1.Endpoints(),
		walletFile:   new(walletv1.Wallet).Endpoints(),
		account1File: new(accountv1.Account).Endpoints(),
	} {
		doc := mustLoad(t, file)
		var served []string
		for i := range endpoints {
			served = append(served, endpoints[i].Path)
			described(t, doc, &endpoints[i])
		}
		slices.Sort(served)
		if described := slices.Sorted(maps.Keys(doc.at("paths"))); !slices.Equal(described, served) {
			t.Errorf("%s: served are %v, described %v", file, served, described)
		}
	}
}

// described compares one endpoint with a document.
func described(t *testing.T, doc document, e *api.Endpoint) {
	post := doc.at("paths", e.Path, "post")
	if tags, _ := post["tags"].([]any); len(tags) != 1 || tags[0] != tagOf(doc, e) {
		t.Errorf("%s is tagged %v, want %s", e.Path, tags, tagOf(doc, e))
	}
	schema := post.at(append([]string{"requestBody"}, jsonBody...)...)
	if ref := schema.text("$ref"); ref != "" {
		schema, _ = resolve(doc, ref).(map[string]any)
	}
	query := slices.Sorted(slices.Values(e.Fields))
	fields := slices.Clone(e.Fields)
	if e.Scope != 0 || e.OptionalKey {
		fields = append(fields, "api_key")
	}
	slices.Sort(fields)
	if described := slices.Sorted(maps.Keys(schema.at("properties"))); !slices.Equal(described, fields) {
		t.Errorf("%s takes %v, described are %v", e.Path, fields, described)
	}

	get := doc.at("paths", e.Path, "get")
	byQuery := e.Scope == 0 && !e.Private
	if (get != nil) != byQuery {
		t.Errorf("%s: GET is described: %v", e.Path, get != nil)
	}
	if byQuery && !slices.Equal(parameters(get), query) {
		t.Errorf("%s takes %v, its query has %v", e.Path, query, parameters(get))
	}
}

// parameters returns the names of an operation's query parameters.
func parameters(operation document) (names []string) {
	list, _ := operation["parameters"].([]any)
	for _, p := range list {
		one, _ := p.(map[string]any)
		names = append(names, document(one).text("name"))
	}
	slices.Sort(names)
	return names
}

// tagOf returns the tag of an endpoint's scope.
func tagOf(doc document, e *api.Endpoint) string {
	switch e.Scope {
	case 0:
		tags, _ := doc["tags"].([]any)
		public, _ := tags[0].(map[string]any)
		return document(public).text("name")
	case account.ScopeRead:
		return "account"
	case account.ScopeWithdraw:
		return "withdrawals"
	case account.ScopeAccount:
		return "session"
	default:
		return "trading"
	}
}

// TestCompressedEndpoints lists the endpoints whose answers may be compressed: they have no
// credential, and no stranger's text beside an account's own data.
func TestCompressedEndpoints(t *testing.T) {
	compressed := map[string][]string{}
	for file, endpoints := range map[string][]api.Endpoint{
		spotFile: new(spotv1.Spot).Endpoints(), infoFile: new(infov1.Info).Endpoints(),
		walletFile: new(walletv1.Wallet).Endpoints(),
	} {
		for i := range endpoints {
			if endpoints[i].Compress {
				compressed[file] = append(compressed[file], endpoints[i].Path)
			}
		}
	}
	for file, endpoints := range map[string][]v2.Endpoint{
		wallet2File: new(walletv2.Wallet).Endpoints(), accountFile: new(accountv2.Account).Endpoints(),
		pagesFile: new(pages.Pages).Endpoints(),
	} {
		for i := range endpoints {
			if endpoints[i].Compress {
				compressed[file] = append(compressed[file], endpoints[i].Path)
			}
		}
	}

	for file, want := range map[string][]string{
		spotFile: {
			"/markets", "/markets_ex", "/orderbook", "/trades", "/candlestick", "/open_orders", "/orders_history",
			"/trades_history",
		},
		infoFile: {"/spot_fees", "/withdrawal_fees", "/banner", "/v2/popup", "/v2/announcements"}, walletFile: {"/assets", "/networks"},
		wallet2File: {"/assets", "/io/networks", "/io/fees"}, accountFile: nil,
		pagesFile: {"/markets", "/candles", "/status"},
	} {
		if !slices.Equal(compressed[file], want) {
			t.Errorf("%s: answers of %v may be compressed, want %v", file, compressed[file], want)
		}
	}
}
