package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

// open returns the customers' pages in front of a handler that answers "interface" with 418.
func open(t *testing.T) (*Pages, http.Handler) {
	t.Helper()
	return inFront(New(brand.Default(), nil, coding.NewEncoder(1), unmetered, browser.Headers{Encrypted: true}))
}

// openConsole is open for the operators' console.
func openConsole(t *testing.T) (*Pages, http.Handler) {
	t.Helper()
	return inFront(NewConsole(brand.Default(), nil, coding.NewEncoder(1), unmetered, browser.Headers{Encrypted: true}))
}

func unmetered(h http.Handler) http.Handler { return h }

func inFront(p *Pages) (*Pages, http.Handler) {
	return p, p.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
}

// get asks for a path, with headers like "Name: value".
func get(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	html   = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
	anyway = "Accept: */*"
)

// TestRoutes wants the address of a page to be a page for browsers, and to be left to the
// interfaces for everything else.
func TestRoutes(t *testing.T) {
	_, h := open(t)
	for _, c := range []struct {
		method, path, accept string
		want                 int
	}{
		{"GET", "/", html, 200}, {"HEAD", "/", html, 200}, {"GET", "/?x=y", html, 200},
		{"GET", "/trade/BTC-USDT", html, 200}, {"GET", "/wallet/deposit", html, 200}, {"GET", "/account", html, 200},
		{"GET", "/", anyway, 418}, {"GET", "/wallet/deposit", anyway, 418}, {"POST", "/wallet/deposit", html, 418},
		{"GET", "/wallet/v2/assets", html, 418}, {"GET", "/spot/markets", html, 418}, {"GET", "/trade/BTC/USDT", html, 418},
		{"GET", "/trade/", html, 418}, {"GET", "/docs", html, 418}, {"GET", "/web/session", html, 418},
		{"GET", "/index.html", html, 418}, {"GET", "/SOURCES", html, 418}, {"GET", "/assets/none.js", html, 418},
		{"GET", "/operator", html, 418}, {"GET", "/operator.html", html, 418}, {"GET", "/operator/log-in", html, 418},
	} {
		got := get(h, c.method, c.path, c.accept)
		if got.Code != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.method, c.path, c.accept, got.Code, c.want)
		}
		if page := strings.Contains(got.Body.String(), "<!doctype html>"); page != (c.want == 200) {
			t.Errorf("%s %s %s: a page: %v", c.method, c.path, c.accept, page)
		}
	}
}

// TestMissing wants a page for a browser that is lost, with the status for that.
func TestMissing(t *testing.T) {
	p, _ := open(t)
	h := p.Missing(http.NotFoundHandler())
	if got := get(h, "GET", "/nothing", html); got.Code != 404 || !strings.Contains(got.Body.String(), "<!doctype html>") {
		t.Errorf("a browser gets %d %s", got.Code, got.Body)
	}
	for _, r := range [][2]string{{"GET", anyway}, {"POST", html}} {
		if got := get(h, r[0], "/nothing", r[1]); got.Code != 404 || strings.Contains(got.Body.String(), "<!doctype html>") {
			t.Errorf("%v gets %d %s", r, got.Code, got.Body)
		}
	}
}

// TestHeaders wants every page and file under the policy, and none readable from elsewhere.
func TestHeaders(t *testing.T) {
	p, h := open(t)
	paths := []string{"/"}
	for path := range p.files {
		paths = append(paths, path)
	}
	for _, path := range paths {
		got := get(h, "GET", path, html).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; ", "Cross-Origin-Opener-Policy": "same-origin",
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "max-age=31536000", "Access-Control-Allow-Origin": "",
		} {
			if value := got.Get(name); !strings.HasPrefix(value, want) || (want == "") != (value == "") {
				t.Errorf("%s: %s is %q, want %q", path, name, value, want)
			}
		}
		if lasts := strings.HasSuffix(got.Get("Cache-Control"), "immutable"); lasts != strings.HasPrefix(path, "/assets/") {
			t.Errorf("%s: Cache-Control is %q", path, got.Get("Cache-Control"))
		}
	}
	if vary := strings.Join(get(h, "GET", "/", anyway).Header().Values("Vary"), " "); vary != "Accept" {
		t.Errorf("what is no page varies by %q", vary)
	}
}

// TestIndexIsWhole wants the page to name only files that are there, and to hold no script,
// style or handler that the policy refuses.
func TestIndexIsWhole(t *testing.T) {
	for _, open := range []func(*testing.T) (*Pages, http.Handler){open, openConsole} {
		p, h := open(t)
		wantWhole(t, p, get(h, "GET", "/", html).Body.String())
	}
}

func wantWhole(t *testing.T, p *Pages, page string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
		if path := m[1]; p.files[path] == nil && strings.Contains(path, "assets/") {
			t.Errorf("%s is not there", path)
		}
	}
	for _, refused := range []string{`<script(?:\s[^>]*)?>[^<]`, `<style`, `\sstyle=`, `\son[a-z]+=`, `https?://`} {
		if found := regexp.MustCompile(refused).FindString(page); found != "" {
			t.Errorf("the page holds %q", found)
		}
	}
}

// TestConsole wants the operators' console at its addresses, stored by no browser, and each site to
// be without the other's pages and scripts.
func TestConsole(t *testing.T) {
	console, h := openConsole(t)
	pages, customers := open(t)
	for _, route := range console.routes {
		path := strings.Replace(route, "*", "7", 1)
		got := get(h, "GET", path, html)
		if got.Code != 200 || !strings.Contains(got.Body.String(), `src="/operator/assets/`) {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
		if got := got.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		if got := get(h, "GET", path, anyway); got.Code != 418 {
			t.Errorf("%s is a page to a program", path)
		}
	}
	for _, path := range []string{"/trade/BTC-USDT", "/wallet", "/log-in", "/index.html", "/operator.html", "/operator/v1/session", "/operator/accounts/7/x"} {
		if got := get(h, "GET", path, html); got.Code != 418 {
			t.Errorf("operators get %s: %d", path, got.Code)
		}
	}

	scripts := 0
	for path := range console.files {
		if path != "/favicon.svg" && pages.files[path] != nil {
			t.Errorf("both sites have %s", path)
		}
		if strings.HasSuffix(path, ".js") {
			scripts++
			if got := get(customers, "GET", path, anyway); got.Code != 418 {
				t.Errorf("customers get %s: %d", path, got.Code)
			}
			if got := get(h, "GET", path, anyway); got.Code != 200 || !strings.HasSuffix(got.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", path, got.Code, got.Header())
			}
		}
	}
	if scripts == 0 {
		t.Error("the console has no script")
	}
}

// TestFilesLeaveInterfacesAlone wants no file of the build in the place of an interface.
func TestFilesLeaveInterfacesAlone(t *testing.T) {
	p, _ := open(t)
	for path := range p.files {
		first, _, below := strings.Cut(path[1:], "/")
		switch first {
		case "account", "binance", "dev", "docs", "healthz", "icons", "info", "llms.txt", "operator", "p2p", "readyz", "spot",
			"stream", "wallet", "web":
			t.Errorf("%s is in the place of an interface", path)
		}
		if below && first != "assets" {
			t.Logf("%s is outside of assets, and asked for each time", path)
		}
	}
}
