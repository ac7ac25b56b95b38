package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWelcome wants the root to be a page for browsers and text for others, and each address
// in the text to answer.
func TestWelcome(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	kind, page := fetched(t, s.url+"/", "text/html,application/xhtml+xml,*/*;q=0.8")
	if kind != "text/html; charset=utf-8" || !strings.HasPrefix(page, "<!doctype html>") {
		t.Errorf("a browser gets %s\n%s", kind, page)
	}
	for _, accept := range []string{"*/*", ""} {
		kind, page := fetched(t, s.url+"/", accept)
		addresses := regexp.MustCompile(`(?m)^  http://[^/]+(/\S+)$`).FindAllStringSubmatch(page, -1)
		if kind != "text/plain; charset=utf-8" || len(addresses) < 3 || !strings.Contains(page, "sandbox") {
			t.Errorf("Accept %q: %s\n%s", accept, kind, page)
		}
		for _, a := range addresses {
			if _, body := fetched(t, s.url+a[1], accept); strings.Contains(body, `"success":false`) {
				t.Errorf("%s: %s", a[1], body)
			}
		}
	}
}

// TestCandlePage wants a page of candles to be 500, the oldest of the range, and the next
// one to go on from there. A sandbox's past has more.
func TestCandlePage(t *testing.T) {
	s := start(t, t.TempDir(), "--catalogue=demo", "--block-time=0")
	page := func(from int) []string {
		_, body := fetched(t, fmt.Sprintf("%s/spot/candlestick?pair=BTC/USDT&res=1&from=%d&to=%d", s.url, from, 1<<33), "")
		var times []string
		for _, m := range regexp.MustCompile(`"time":"([0-9]+)`).FindAllStringSubmatch(body, -1) {
			times = append(times, m[1])
		}
		return times
	}
	first := page(0)
	if len(first) != 500 || !slices.IsSorted(first) {
		t.Fatalf("%d candles", len(first))
	}
	last, err := strconv.Atoi(first[499])
	must(t, err)
	if again := page(last); len(again) != 500 || again[0] != first[499] || again[1] <= again[0] {
		t.Errorf("%d candles from %d on", len(again), last)
	}
}

// fetched opens an address, which must answer with status 200.
func fetched(t *testing.T, url, accept string) (kind, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	must(t, err)
	req.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", url, res.Status, err)
	}
	return res.Header.Get("Content-Type"), string(text)
}
