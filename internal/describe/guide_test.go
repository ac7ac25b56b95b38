package describe

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/docs/guide"
	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

// chaptersOf returns the guide's chapters by name.
func chaptersOf(t *testing.T) map[string]Chapter {
	t.Helper()
	list, err := Guide()
	if err != nil {
		t.Fatal(err)
	}
	chapters := map[string]Chapter{}
	for _, c := range list {
		chapters[c.Name] = c
	}
	return chapters
}

// TestChapters wants every chapter to be listed, with a title and a plain summary.
func TestChapters(t *testing.T) {
	files, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".md"))
	}
	listed := guide.Names()
	slices.Sort(listed)
	if !slices.Equal(names, listed) {
		t.Errorf("files %q, listed %q", names, listed)
	}
	for name, c := range chaptersOf(t) {
		if c.Title == "" || c.Summary == "" || strings.ContainsAny(c.Title+c.Summary, "*`[") {
			t.Errorf("%s: title %q, summary %q", name, c.Title, c.Summary)
		}
	}
}

// TestChapterIsRendered wants fences with their file, tables, links to pages, and no HTML
// from the text.
func TestChapterIsRendered(t *testing.T) {
	c, err := newChapter("a", []byte("# A\n\nB\nc.\n\n## D e\n\n[f](g.md#h) <b>\n\n| i |\n|---|\n| j |\n\n```python k.py\nif l < m:\n```\n\n```sh\nn\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Title != "A" || c.Summary != "B c." {
		t.Errorf("title %q, summary %q", c.Title, c.Summary)
	}
	want := []Snippet{{"python", "k.py", "if l < m:\n"}, {"sh", "", "n\n"}}
	if !slices.Equal(c.Snippets, want) || len(c.programs()) != 1 {
		t.Errorf("%q", c.Snippets)
	}
	for _, part := range []string{
		`<h2 id="d-e">D e</h2>`, `<a href="g#h">f</a>`, "<td>j</td>",
		"<p class=\"file\"><a href=\"k.py\">k.py</a></p>\n<pre class=\"python\" tabindex=\"0\"><code>if l &lt; m:\n</code></pre>",
		"<pre class=\"sh\" tabindex=\"0\"><code>n\n</code></pre>",
	} {
		if !strings.Contains(string(c.body), part) {
			t.Errorf("%s\nlacks %s", c.body, part)
		}
	}
	if strings.Contains(string(c.body), "<b>") {
		t.Errorf("HTML of the text is in the page: %s", c.body)
	}
}

// TestGuideIsServed wants pages, Markdown and programs, with the policy of pages.
func TestGuideIsServed(t *testing.T) {
	h, err := Handler("/docs", brand.Default(), coding.NewEncoder(1), http.HandlerFunc(missing))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		"/docs/keys":       {"text/html; charset=utf-8", `aria-current="page">Accounts and keys</a>`},
		"/docs/keys.md":    {"text/markdown; charset=utf-8", "# Accounts and keys\n"},
		"/docs/bourse.py":  {"text/x-python; charset=utf-8", "class Stream:"},
		"/docs/bot.py":     {"text/x-python; charset=utf-8", "class Bot:"},
		"/docs/bourse.mjs": {"text/javascript; charset=utf-8", "export async function call"},
		"/llms.txt":        {"text/plain; charset=utf-8", "- [A bot](/docs/bot.md): A market maker"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want[0] || !strings.Contains(w.Body.String(), want[1]) {
			t.Errorf("%s: %d %s %.80s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'self';") {
			t.Errorf("%s: policy is %q", path, policy)
		}
		if loads := regexp.MustCompile(`<(script|img|iframe|style)|style=|src=|url\(`).FindAllString(w.Body.String(), -1); want[0][:9] == "text/html" && loads != nil {
			t.Errorf("%s loads %q", path, loads)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs/doc.go", http.NoBody))
	if w.Code != http.StatusNotFound {
		t.Errorf("doc.go: %d", w.Code)
	}
}

// TestRecipe wants the guide and the specification to have the same five steps of reconnecting.
func TestRecipe(t *testing.T) {
	spec, err := os.ReadFile("../../docs/spec/spot.md")
	if err != nil {
		t.Fatal(err)
	}
	// The lines are numbered, and end at a blank line.
	lines := regexp.MustCompile(`(?m)^1\. (.+\n)+`)
	want, got := lines.Find(spec), lines.Find(chaptersOf(t)["reconnecting"].Text)
	if !bytes.Equal(bytes.Join(bytes.Fields(want), nil), bytes.Join(bytes.Fields(got), nil)) || !bytes.Contains(got, []byte("\n5. ")) {
		t.Errorf("the specification has\n%s\nthe guide has\n%s", want, got)
	}
}

// TestChangesAreListed wants the chapter of changes to have all endpoints and streams that
// V1's documents do not have, and the reference to mark them.
func TestChangesAreListed(t *testing.T) {
	changes := string(chaptersOf(t)["changes"].Text)
	found := 0
	check := func(name, summary string) {
		isNew := !slices.Contains(inV1, name)
		if isNew && !strings.Contains(changes, "`"+name+"`") {
			t.Errorf("changes.md lacks %s", name)
		}
		if strings.HasSuffix(summary, " (new since V1)") != isNew {
			t.Errorf("%s is marked wrongly: %s", name, summary)
		}
		if !isNew {
			found++
		}
	}
	for _, file := range restFiles {
		for _, e := range endpoints(mustLoad(t, file)) {
			check(e.Name, e.Summary)
		}
	}
	for name := range maps.Keys(mustLoad(t, streamsFile).at("components", "messages")) {
		if name != "resp" && name != "reset" {
			check(name, marked(name, ""))
		}
	}
	if found != len(inV1) {
		t.Errorf("%d of the %d names of V1 are described", found, len(inV1))
	}
}
