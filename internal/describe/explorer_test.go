package describe

import (
	"html"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

// TestExplorer wants every operation of every document in the explorer, under a policy that gives
// it an origin of its own.
func TestExplorer(t *testing.T) {
	h, err := Handler("/docs", brand.Default(), coding.NewEncoder(1), http.HandlerFunc(missing))
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs/explorer", http.NoBody))
	page := html.UnescapeString(w.Body.String())
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; sandbox allow-scripts") || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
		t.Errorf("the policy is %q", policy)
	}

	for _, name := range slices.Concat(restFiles, restV2Files) {
		doc, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		for path := range doc.at("paths") {
			for _, method := range methods {
				o := doc.at("paths", path, method)
				id := `id="` + strings.TrimSuffix(name, ".yaml") + "-" + o.text("operationId") + `"`
				if o != nil && (strings.Count(page, id) != 1 || !strings.Contains(page, "<code>"+doc.prefix()+path+"</code>")) {
					t.Errorf("%s: %s %s is not there once", name, method, path)
				}
			}
		}
	}
	for _, refused := range []string{"$ref", "map[", "<no value>", "style=", "onclick"} {
		if strings.Contains(page, refused) {
			t.Errorf("the page holds %s", refused)
		}
	}
}

// TestExplored wants an operation's fields, its answers and a line for a shell.
func TestExplored(t *testing.T) {
	doc, err := load(spotFile)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explore(spotFile, doc)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(e.Operations, func(o exploredOperation) bool { return o.ID == "spot-newOrder" })
	if at < 0 {
		t.Fatal("there is no newOrder")
	}

	o := e.Operations[at]
	for _, f := range []field{{Name: "pair", Required: true}, {Name: "client_id"}, {Name: "api_key"}} {
		if !slices.ContainsFunc(o.Body, func(got field) bool { return got.Name == f.Name && got.Depth == 0 && (got.Required || !f.Required) }) {
			t.Errorf("the body lacks %+v: %+v", f, o.Body)
		}
	}
	if !strings.HasPrefix(o.Curl, `curl -d '{"amount":"0.5","api_key":"KEY",`) || !strings.HasSuffix(o.Curl, `' "$BASE/spot/open_orders/new"`) {
		t.Errorf("the line is %s", o.Curl)
	}
	if len(o.Answers) == 0 || len(o.Answers[0].Fields) < 4 || len(o.Answers[0].Examples) < 3 {
		t.Errorf("the answers are %+v", o.Answers)
	}
}

// TestFields wants references followed, arrays and variants opened, and schemas that contain
// themselves to end.
func TestFields(t *testing.T) {
	doc := document{"components": map[string]any{"schemas": map[string]any{"Tree": map[string]any{
		"type": "object", "required": []any{"name"},
		"properties": map[string]any{
			"branches": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/components/schemas/Tree"}},
			"name":     map[string]any{"type": "string", "maxLength": 9, "description": "Its name."},
			"kind":     map[string]any{"enum": []any{"OAK", nil}},
		},
	}}}}
	list := doc.fields(document{"oneOf": []any{map[string]any{"$ref": "#/components/schemas/Tree"}}})
	if len(list) == 0 || list[0].Name != "form 1 of 1" {
		t.Fatalf("%+v", list)
	}
	want := []field{
		{Name: "name", Kind: "string, maxLength 9", Description: "Its name.", Required: true, Depth: 1},
		{Name: "branches", Kind: "array of object", Depth: 1},
		{Name: "name", Kind: "string, maxLength 9", Description: "Its name.", Required: true, Depth: 2},
	}
	if !slices.Equal(list[1:4], want) {
		t.Errorf("%+v", list)
	}
	if last := list[len(list)-1]; last.Name != "kind" || last.Kind != "OAK | null" || last.Depth != 1 {
		t.Errorf("the last is %+v", last)
	}
	for _, f := range list {
		if f.Depth > deepest {
			t.Errorf("%+v is too deep", f)
		}
	}
	if line := curl(&exploredOperation{Method: "PATCH", Path: "/x", Key: true, Examples: []sample{{"", `{"a":"it's"}`}}}); line != `curl -X PATCH -H "Authorization: Bearer $KEY" -d '{"a":"it'\''s"}' "$BASE/x"` {
		t.Errorf("the line is %s", line)
	}
}
