package api_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/lane"
)

// told wants the headers of a limit: limit, remaining and reset, and Retry-After if there
// is one; none of them for an empty want.
func (d *desk) told(path, body, want string) {
	d.Helper()
	r, _ := d.ask(http.MethodPost, path, strings.NewReader(body))
	var got []string
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"} {
		if value := r.header.Get(name); value != "" {
			got = append(got, value)
		}
	}
	if strings.Join(got, " ") != want {
		d.Errorf("%s %s: told %q, want %q", path, body, got, want)
	}
	exposed := r.header.Get("Access-Control-Expose-Headers")
	if (exposed == "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After") != (want != "") {
		d.Errorf("%s %s: exposed %q", path, body, exposed)
	}
}

// TestLimitsAreTold checks the headers of answers: the limit that was applied, after all that
// the request weighs.
func TestLimitsAreTold(t *testing.T) {
	half := api.Rate{PerSecond: 0.5, Burst: 4}
	d := newDesk(t, api.Limits{
		Source: api.SourceRates{Requests: half}, FailedAuth: api.Rate{PerSecond: 1, Burst: 9},
		Account: api.Rates{Reads: api.Rate{PerSecond: 4, Burst: 6}},
	})
	const key = `{"api_key":"s3cret-trades"}`
	d.told("/spot/echo", `{"text":"x"}`, "4 3 2")
	d.told("/spot/echo", `bad`, "4 2 4")
	d.told("/spot/who", `{"api_key":"nobody"}`, "4 1 6")
	d.told("/spot/nothing", `{}`, "")
	d.told("/spot/who", key, "6 5 1")
	d.told("/spot/laborious", key, "6 1 2")
	d.told("/spot/trade/now", key, "") // no limit is set for orders
	d.told("/spot/large", `{}`, "4 0 64")
	d.told("/spot/echo", `{"text":"x"}`, "4 0 64 58")
	d.told("/spot/who", key, "6 0 2")
	d.told("/spot/who", key, "6 0 2 1")

	d = newDesk(t, api.Limits{})
	d.told("/spot/echo", `{"text":"x"}`, "")
}

// TestBadKeysAreToldTheirOwnLimit checks that Retry-After of a spent limit of invalid keys is
// the time until a key is looked at again, not that of the limit of requests.
func TestBadKeysAreToldTheirOwnLimit(t *testing.T) {
	d := newDesk(t, api.Limits{
		Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 9}}, FailedAuth: api.Rate{PerSecond: 0.05, Burst: 1},
	})
	d.told("/spot/who", `{"api_key":"nobody"}`, "9 8 1")
	d.told("/spot/who", `{"api_key":"nobody"}`, "9 7 2 20")
}

// serve serves a handler until the end of the test, by package lane or by net/http alone, and
// returns the address.
func serve(t *testing.T, h http.Handler, byLane bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rest := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	t.Cleanup(func() { _ = rest.Close() })
	if !byLane {
		go func() { _ = rest.Serve(l) }()
		return l.Addr().String()
	}

	s := &lane.Server{
		Listener: l, Handler: h, Prefixes: []string{"/spot/"}, MaxBody: api.MaxBody, Patience: time.Minute,
		FirstWithin: time.Minute, IdleFor: time.Minute, WriteWithin: time.Minute, Clock: time.Now,
		State: func(net.Conn, http.ConnState) {}, Log: slog.New(slog.DiscardHandler),
	}
	others := s.Rest()
	go func() { _ = rest.Serve(others) }()
	go s.Serve()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// converse sends requests and returns the answers.
func converse(t *testing.T, address, requests string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, requests); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`Date: .* GMT\r\n`).ReplaceAllString(string(all), "Date: now\r\n")
}

// TestLanesTellTheSame compares answers with limits, as the lane and net/http write them, byte
// by byte.
func TestLanesTellTheSame(t *testing.T) {
	limits := api.Limits{
		Source:  api.SourceRates{Requests: api.Rate{PerSecond: 0.5, Burst: 3}},
		Account: api.Rates{Reads: api.Rate{PerSecond: 3, Burst: 20}, Orders: api.Rate{PerSecond: 1e9, Burst: 1e9}},
	}
	var requests bytes.Buffer
	post := func(path, body string, headers ...string) {
		_, _ = fmt.Fprintf(&requests, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s",
			path, strings.Join(headers, ""), len(body), body)
	}
	const key = `{"api_key":"s3cret-trades"}`
	for range 3 {
		post("/spot/who", key)
		post("/spot/who", `{}`, "Authorization: Bearer s3cret-reads\r\n")
		post("/spot/trade/now", key)
		post("/spot/echo", `{"text":"x"}`)
		post("/spot/refused", `{}`)
		post("/spot/whole", `{}`)
		post("/spot/nothing", `{}`)
		post("/spot/laborious", key)
	}

	var got [2]string
	for i := range got {
		got[i] = converse(t, serve(t, told(limits), i == 0), requests.String())
	}
	if got[0] != got[1] {
		t.Errorf("the lane answers\n%s\nbut net/http\n%s", got[0], got[1])
	}
	for _, line := range []string{
		"RateLimit-Remaining: 999999998\r\n", "RateLimit-Limit: 20\r\n", "Retry-After: 2\r\n", "429 Too Many", "404 Not Found",
	} {
		if !strings.Contains(got[0], line) {
			t.Errorf("no answer has %q", line)
		}
	}
}

// told returns an interface whose clock stands still.
func told(limits api.Limits) http.Handler {
	frozen := func() time.Time { return time.Unix(1_700_000_000, 0) }
	v := &api.Server{
		Who: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Limits: api.NewLimiter(limits, frozen), Clock: frozen, Patience: time.Minute,
		Log: slog.New(slog.DiscardHandler), Observe: func(string, int, bool, time.Duration) {},
	}
	mux := http.NewServeMux()
	v.Handle(mux, "/spot", append(endpoints(nil), api.Endpoint{
		Path: "/whole", Answer: func(c *api.Call) error {
			c.Whole([]byte(`{"success":true}`))
			return nil
		},
	}))
	mux.Handle("/", v.Missing())
	return api.Transport(mux, v.Missing())
}
