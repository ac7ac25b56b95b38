package describe

import (
	"maps"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
)

// TestEndpointsAreDescribed holds the paths, fields and scopes that the program
// serves against the document.
func TestEndpointsAreDescribed(t *testing.T) {
	doc := mustLoad(t, spotFile)
	var served []string
	for _, e := range new(spotv1.Spot).Endpoints() {
		served = append(served, e.Path)
		post := doc.at("paths", e.Path, "post")
		if tags, _ := post["tags"].([]any); len(tags) != 1 || tags[0] != tagOf(&e) {
			t.Errorf("%s is tagged %v, want %s", e.Path, tags, tagOf(&e))
		}
		schema := post.at(append([]string{"requestBody"}, jsonBody...)...)
		if ref := schema.text("$ref"); ref != "" {
			schema, _ = resolve(doc, ref).(map[string]any)
		}
		fields := slices.Clone(e.Fields)
		if e.Scope != 0 {
			fields = append(fields, "api_key")
		}
		slices.Sort(fields)
		if described := slices.Sorted(maps.Keys(schema.at("properties"))); !slices.Equal(described, fields) {
			t.Errorf("%s takes %v, described are %v", e.Path, fields, described)
		}
	}
	slices.Sort(served)
	if described := slices.Sorted(maps.Keys(doc.at("paths"))); !slices.Equal(described, served) {
		t.Errorf("served are %v, described %v", served, described)
	}
}

// tagOf returns the tag that stands for an endpoint's scope.
func tagOf(e *api.Endpoint) string {
	switch e.Scope {
	case 0:
		return "market data"
	case account.ScopeRead:
		return "account"
	default:
		return "trading"
	}
}
