package web

import (
	"io/fs"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The most bytes, compressed, of what a browser fetches for a page at first, of the chart, and of all files. The trading
// page is usable before its chart has come; both together have 110 kB, of 1,000 bytes.
const (
	mostOfTrade = 63_000
	mostOfPage  = 60_000
	mostOfChart = 46_200
	mostOfAll   = 450_000
	// mostOfConsole is of the operators' console, all files.
	mostOfConsole = 60_000
)

var (
	// linked finds the files that the document names, lists that of files which the script fetches with pages, and loads the
	// pages with the part of the texts and the places in that list.
	linked = regexp.MustCompile(`(?:src|href)="/(assets/[^"]+)"`)
	lists  = regexp.MustCompile(`m\.f=\[([^\]]*)\]`)
	loads  = regexp.MustCompile("texts:[`\"'](\\w+)[`\"'],load:.{1,24}?import\\([`\"']\\./((\\w+)-[\\w-]+\\.js)[`\"']\\).{0,48}?\\(\\[([\\d,]*)\\]\\)")
)

// TestSizes wants no page to become larger unnoticed.
func TestSizes(t *testing.T) {
	p, h := open(t)
	size := func(name string) int {
		got := get(h, http.MethodGet, "/"+name, html, "Accept-Encoding: gzip")
		if got.Code != http.StatusOK {
			t.Fatalf("%s: %d", name, got.Code)
		}
		return got.Body.Len()
	}

	shell := map[string]bool{"": true, one(t, "worker-*.js"): true}
	var script string
	for _, m := range linked.FindAllStringSubmatch(read(t, indexFile), -1) {
		shell[m[1]] = true
		if text := read(t, m[1]); lists.MatchString(text) {
			script = text
		}
	}
	files := strings.Split(strings.ReplaceAll(lists.FindStringSubmatch(script)[1], `"`, ""), ",")

	found := loads.FindAllStringSubmatch(script, -1)
	for _, m := range found {
		part, file, page := m[1], m[2], m[3]
		names := map[string]bool{assets + file: true, one(t, "en."+part+"-*.js"): true}
		for name := range shell {
			names[name] = true
		}
		for _, at := range strings.Split(m[4], ",") {
			if i, err := strconv.Atoi(at); err == nil {
				names[files[i]] = true
			}
		}

		sum, most := 0, mostOfPage
		for name := range names {
			sum += size(name)
		}
		if page == "Trade" {
			most = mostOfTrade
		}
		t.Logf("%-8s %6d of %d", page, sum, most)
		if sum > most {
			t.Errorf("page %s is %d bytes, at most %d", page, sum, most)
		}
	}
	if len(found) < 12 {
		t.Fatalf("%d pages are found in the build", len(found))
	}
	chart := size(one(t, "chart-*.js"))
	if t.Logf("%-8s %6d of %d", "chart", chart, mostOfChart); chart > mostOfChart {
		t.Errorf("the chart is %d bytes, at most %d", chart, mostOfChart)
	}

	all := 0
	for name := range p.files {
		all += size(strings.TrimPrefix(name, "/"))
	}
	if all > mostOfAll {
		t.Errorf("all files are %d bytes, at most %d", all, mostOfAll)
	}
}

// TestSizeOfConsole wants the same of the operators' console, which is fetched whole.
func TestSizeOfConsole(t *testing.T) {
	p, h := openConsole(t)
	all := 0
	for path := range p.files {
		all += get(h, http.MethodGet, path, html, "Accept-Encoding: gzip").Body.Len()
	}
	if t.Logf("%d of %d", all, mostOfConsole); all > mostOfConsole {
		t.Errorf("the console is %d bytes, at most %d", all, mostOfConsole)
	}
}

// one returns the name of the one asset that a pattern fits.
func one(t *testing.T, pattern string) string {
	t.Helper()
	names, err := fs.Glob(dist, "dist/"+assets+pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return strings.TrimPrefix(names[0], "dist/")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := dist.ReadFile("dist/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
