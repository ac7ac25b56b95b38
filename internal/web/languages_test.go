package web

import (
	htmltext "html"
	"io/fs"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

// TestEnglish wants the English texts of every part to be in the build, under one key each.
func TestEnglish(t *testing.T) {
	english := English()
	for _, key := range []string{"nav.markets", "trade.title", "appearance.language", "withdraw.title", "desk.logIn", "console.settings"} {
		if english.Texts[key] == "" {
			t.Errorf("the build has no text %s", key)
		}
	}
	if err := english.check(english.Texts); err != nil {
		t.Errorf("English does not stand its own check: %v", err)
	}
}

// arabic is a translation of two texts.
const arabic = `{"name": "العربية", "rtl": true, "texts": {"nav.markets": "الأسواق", "error.wait": "انتظر {seconds} ثانية."}}`

// TestLanguagesThatAreRefused wants the reason for each file that cannot be shown.
func TestLanguagesThatAreRefused(t *testing.T) {
	of := func(text string) string { return `{"name":"X","texts":{"error.wait":` + text + `}}` }
	for _, c := range []struct{ name, body, says string }{
		{"ar.json", arabic, ""},
		{"zh-Hant-TW.json", of(`"{seconds} {seconds}"`), ""},
		{"fa.json", of(`"\u200f\u2067{seconds}\u2069\u200c"`), ""},
		{"ar.txt", arabic, "must be a code"},
		{"arabic.json", arabic, "must be a code"},
		{"ar-eg.json", arabic, "must be a code"},
		{"en.json", arabic, "the pages have en themselves"},
		{"ar-XB.json", arabic, "the pages have ar-XB themselves"},
		{"xx.json", `{"name":"X","texts":{"nav.market":"x"}}`, "nav.market is no key"},
		{"xx.json", `{"name":"X","text":{}}`, "unknown object member"},
		{"xx.json", `{"name":"X","texts":{"nav.markets":"x","nav.markets":"y"}}`, "duplicate"},
		{"xx.json", `{"name":"X"}}`, "after top-level value"},
		{"xx.json", `{"texts":{}}`, "name: must be 1 to 40"},
		{"xx.json", `{"name":"` + strings.Repeat("é", maxLanguageName+1) + `","texts":{}}`, "name: must be 1 to 40"},
		{"xx.json", of(`"wait"`), "must have the values of"},
		{"xx.json", of(`"{second}"`), "must have the values of"},
		{"xx.json", of(`"{seconds} {minutes}"`), "must have the values of"},
		{"xx.json", of(`"  "`), "must be 1 to 2000 bytes"},
		{"xx.json", of(`"\u202e{seconds}"`), "overrides of the direction"},
		{"xx.json", of(`"a\nb{seconds}"`), "in one line"},
		{"xx.json", of(`"{seconds}` + strings.Repeat("x", maxText) + `"`), "must be 1 to 2000 bytes"},
		{"xx.json", `{"name":"X","texts":{}}` + strings.Repeat(" ", maxLanguageFile), "more than 1048576 bytes"},
	} {
		list, err := ReadLanguages(fstest.MapFS{c.name: {Data: []byte(c.body)}, ".hidden": {}})
		switch {
		case c.says == "" && (err != nil || len(list) != 1):
			t.Errorf("%s: %v", c.name, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s %.60s: %v, want %q", c.name, c.body, err, c.says)
		}
	}

	for _, mode := range []fs.FileMode{fs.ModeNamedPipe, fs.ModeDir} {
		_, err := ReadLanguages(fstest.MapFS{"ar.json": {Data: []byte(arabic), Mode: mode}})
		if err == nil || !strings.Contains(err.Error(), "language ar.json: it is no regular file") {
			t.Errorf("%s: %v", mode, err)
		}
	}

	many := fstest.MapFS{}
	for a := range 3 {
		for b := range 26 {
			many[string(rune('a'+a))+"q"+string(rune('a'+b))+".json"] = &fstest.MapFile{Data: []byte(arabic)}
		}
	}
	if _, err := ReadLanguages(many); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Errorf("%d languages: %v", len(many), err)
	}
}

// TestLanguagesAreServed wants the page of each site to name each language's file, which has the site's texts and
// never changes.
func TestLanguagesAreServed(t *testing.T) {
	const translated = `{"name":"العربية","rtl":true,"texts":{"nav.markets":"الأسواق","desk.logIn":"دخول","trade.last":"آخر سعر","appearance.title":"المظهر"}}`
	list, err := ReadLanguages(fstest.MapFS{"ar.json": {Data: []byte(translated)}})
	if err != nil {
		t.Fatal(err)
	}
	for path, site := range map[string]struct {
		pages *Pages
		lacks string
	}{
		"/":         {New(brand.Default(), list, coding.NewEncoder(1), unmetered, browser.Headers{}), "desk.logIn"},
		"/operator": {NewConsole(brand.Default(), list, coding.NewEncoder(1), unmetered, browser.Headers{}), "trade.last"},
	} {
		h := site.pages.Before(http.NotFoundHandler())
		l := namedLanguage(t, get(h, "GET", path, "Accept: text/html").Body.String())
		if l.Code != "ar" || l.Name != "العربية" || !l.RTL || !strings.HasPrefix(l.File, "/assets/texts-ar-") {
			t.Errorf("%s names %+v", path, l)
		}

		got, want := get(h, "GET", l.File, anyway), maps.Clone(list[0].Texts)
		delete(want, site.lacks)
		var texts map[string]string
		if err := json.Unmarshal(got.Body.Bytes(), &texts); err != nil || !maps.Equal(texts, want) {
			t.Errorf("the file of %s has %s, %v", path, got.Body, err)
		}
		if kept := got.Header().Get("Cache-Control"); kept != immutable || got.Header().Get("Content-Type") != "application/json" {
			t.Errorf("the file of %s is %q, kept %q", path, got.Header().Get("Content-Type"), kept)
		}
		for _, catalogue := range []string{textsFile, consoleTexts} {
			if got := get(h, "GET", "/"+catalogue, anyway); got.Code != http.StatusNotFound {
				t.Errorf("%s serves the catalogue %s: %d", path, catalogue, got.Code)
			}
		}
	}
}

// namedLanguage returns the language that a page names.
func namedLanguage(t *testing.T, page string) offered {
	t.Helper()
	found := regexp.MustCompile(`<meta name="languages" content="([^"]*)" />`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page names no languages:\n%s", page)
	}
	var named []offered
	if err := json.Unmarshal([]byte(htmltext.UnescapeString(found[1])), &named); err != nil || len(named) != 1 {
		t.Fatalf("%s: %v", found[1], err)
	}
	return named[0]
}
