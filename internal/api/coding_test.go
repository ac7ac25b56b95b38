package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/coding"
)

// long is the length of the answers of a press.
const long = 5000

// press serves answers that may be compressed, and some that may not, by net/http and by
// package lane.
type press struct {
	*testing.T
	limits *api.Limiter
	// servers are the addresses of lane and of net/http alone.
	servers [2]string
}

func newPress(t *testing.T) *press {
	frozen := func() time.Time { return time.Unix(1_700_000_000, 0) }
	p := &press{T: t, limits: api.NewLimiter(api.Limits{
		Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 1000}},
	}, frozen)}
	v := &api.Server{
		Who: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }, Limits: p.limits,
		Clock: frozen, Patience: time.Minute, Log: slog.New(slog.DiscardHandler), Encoder: coding.NewEncoder(2),
		Observe: func(string, int, bool, time.Duration) {},
	}

	write := func(c *api.Call) error {
		c.Require("size")
		c.Out.Text("text", strings.Repeat("x", int(c.Int("size", 0, 1<<20))))
		return c.Err()
	}
	shared := coding.NewDocument(bytes.Repeat([]byte("a document "), 100_000))
	size := api.Fields{"size"}
	mux := http.NewServeMux()
	v.Handle(mux, "/spot", []api.Endpoint{
		{Path: "/open", Fields: size, Compress: true, Answer: write},
		{Path: "/closed", Fields: size, Answer: write},
		{Path: "/own", Scope: account.ScopeRead, Fields: size, Answer: write},
		{Path: "/shared", Compress: true, Answer: func(c *api.Call) error { c.Share(shared); return nil }},
	})
	handler := api.Transport(mux, v.Missing())

	for i := range p.servers {
		p.servers[i] = serve(t, handler, i == 0)
	}
	return p
}

// passing matches headers that differ from one answer to the next.
var passing = regexp.MustCompile(`(Date|RateLimit-Remaining|RateLimit-Reset): [^\r]*\r\n`)

// ask posts a request to both servers, whose answers must be the same bytes. It returns the
// header and the body.
func (p *press) ask(path, body, accept string) (http.Header, []byte) {
	p.Helper()
	var answers [2]string
	for i, address := range p.servers {
		all := converse(p.T, address, fmt.Sprintf(
			"POST %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", path, accept, len(body), body))
		answers[i] = passing.ReplaceAllString(all, "")
	}
	if answers[0] != answers[1] {
		p.Errorf("%s %q: lane answered\n%.300q\nand net/http\n%.300q", path, accept, answers[0], answers[1])
	}

	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answers[0])), nil)
	if err != nil {
		p.Fatal(err)
	}
	got, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil || r.StatusCode != http.StatusOK || r.Header.Get("Content-Length") != strconv.Itoa(len(got)) {
		p.Fatalf("%v: status %d, %d bytes, header %v", err, r.StatusCode, len(got), r.Header)
	}
	return r.Header, got
}

func TestAnswersAreCompressed(t *testing.T) {
	p := newPress(t)
	const small = `{"size":100}`
	large := fmt.Sprintf(`{"size":%d}`, long)
	for _, c := range []struct {
		path, body, accept string
		coding, vary       string
	}{
		{"/spot/open", large, "gzip", "gzip", "Accept-Encoding"},
		{"/spot/open", large, "gzip, zstd", "zstd", "Accept-Encoding"},
		{"/spot/open", large, "br", "", "Accept-Encoding"},
		{"/spot/open", large, "gzip;q=0", "", "Accept-Encoding"},
		{"/spot/open", small, "gzip", "", "Accept-Encoding"},
		{"/spot/open", small, "gzip, identity;q=0", "gzip", "Accept-Encoding"},
		{"/spot/open", `{"size":1000000}`, "gzip", "", "Accept-Encoding"},
		{"/spot/open", `{}`, "gzip, identity;q=0", "", ""},
		{"/spot/closed", large, "gzip, identity;q=0", "", ""},
		{"/spot/own", `{"api_key":"s3cret-reads","size":5000}`, "gzip", "", ""},
		{"/spot/shared", `{}`, "gzip", "gzip", "Accept-Encoding"},
		{"/spot/shared", `{}`, "identity", "", "Accept-Encoding"},
	} {
		header, got := p.ask(c.path, c.body, c.accept)
		if header.Get("Content-Encoding") != c.coding || header.Get("Vary") != c.vary {
			t.Errorf("%s %s %q: %v", c.path, c.body, c.accept, header)
		}
		if c.coding != "gzip" {
			continue
		}
		_, plain := p.ask(c.path, c.body, "")
		z, err := gzip.NewReader(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		if decoded, err := io.ReadAll(z); err != nil || !bytes.Equal(decoded, plain) {
			t.Errorf("%s: %d bytes come back as %d (%v)", c.path, len(plain), len(decoded), err)
		}
	}
}

// TestCompressedAnswersWeigh wants an answer to cost its client as much compressed as
// plain, so that the work of compressing is bounded as other answers are.
func TestCompressedAnswersWeigh(t *testing.T) {
	p := newPress(t)
	who := api.Payer{Source: netip.IPv6Loopback()}
	cost := func(accept string) int {
		p.ask("/spot/open", `{"size":200000}`, accept)
		left := 0
		for p.limits.Admit(api.Reads, who) {
			left++
		}
		return left
	}
	plain := cost("")
	p = newPress(t)
	if compressed := cost("gzip"); compressed != plain || plain > 1000-2*24 {
		t.Errorf("%d requests are left behind a plain answer, %d behind a compressed one", plain, compressed)
	}
}
