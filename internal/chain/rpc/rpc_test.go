package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client of a handler.
func client(t *testing.T, h http.HandlerFunc, o rpc.Options) *rpc.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.URL = s.URL
	c, err := rpc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// says returns a handler that answers every request with a text, in which ID is the request's.
func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		_, id, _ := strings.Cut(string(asked), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "ID", id))
	}
}

func TestCall(t *testing.T) {
	for _, c := range []struct {
		status   int
		text     string
		wants    string
		kind     error
		nodeCode int
	}{
		{200, `{"result":7,"error":null,"id":ID}`, "7", nil, 0},
		{200, `{"jsonrpc":"2.0","result":0.00001000,"id":ID}`, "0.00001000", nil, 0},
		{200, `{"jsonrpc":"2.0","result":1e-05,"id":ID}`, "1e-05", nil, 0},
		{500, `{"result":null,"error":{"code":-8,"message":"out of range"},"id":ID}`, "", nil, -8},
		{404, `{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":ID}`, "", nil, -32601},
		{200, `{"result":7,"error":null,"id":0}`, "", chain.ErrOdd, 0},
		{200, `{"result":7,"error":null,"id":"ID"}`, "", chain.ErrOdd, 0},
		{200, `{"result":7,"error":null}`, "", chain.ErrOdd, 0},
		{200, `{"id":ID}`, "", chain.ErrOdd, 0},
		{200, `{"result":7,"error":{"code":-1,"message":"x"},"id":ID}`, "", chain.ErrOdd, 0},
		{200, `{"result":7,"result":8,"error":null,"id":ID}`, "", chain.ErrOdd, 0},
		{200, `{"result":"7","error":null,"id":ID}`, "", chain.ErrOdd, 0},
		{200, `{"result":7,"error":null,"id":ID}{}`, "", chain.ErrOdd, 0},
		{200, `[]`, "", chain.ErrOdd, 0},
		{200, ``, "", chain.ErrOdd, 0},
		{502, `<html>bad gateway</html>`, "", chain.ErrOdd, 0},
		{401, ``, "", chain.ErrOdd, 0},
		{503, `Work queue depth exceeded`, "", chain.ErrSilent, 0},
		{504, `<html>gateway timeout</html>`, "", chain.ErrSilent, 0},
		{504, `<html>gateway timeout</html>`, "", context.DeadlineExceeded, 0},
	} {
		var n rpc.Number
		err := client(t, says(c.status, c.text), rpc.Options{}).Call(t.Context(), &n, "method", 1, "a")

		node := new(rpc.Error)
		switch {
		case c.nodeCode != 0:
			if !errors.As(err, &node) || node.Code != c.nodeCode {
				t.Errorf("%d %s: got %v, want code %d", c.status, c.text, err, c.nodeCode)
			}
		case !errors.Is(err, c.kind) || (err == nil) != (c.kind == nil) || string(n) != c.wants:
			t.Errorf("%d %s: got %q, %v", c.status, c.text, n, err)
		}
	}
}

// TestSilent asks a node that accepts connections and never answers, one that is not there,
// and one that stops in the middle of its answer.
func TestSilent(t *testing.T) {
	frozen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = frozen.Close() })
	away, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}

	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"result":`)
	}))
	t.Cleanup(half.Close)

	for _, url := range []string{"http://" + frozen.Addr().String(), "http://" + away.Addr().String(), half.URL} {
		c, err := rpc.New(rpc.Options{URL: url, Timeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Call(t.Context(), nil, "method"); !errors.Is(err, chain.ErrSilent) {
			t.Errorf("%s: got %v", url, err)
		}
		if _, _, err := c.Get(t.Context(), "/rest"); !errors.Is(err, chain.ErrSilent) {
			t.Errorf("%s: got %v", url, err)
		}
		c.Close()
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := client(t, says(200, `{"result":7,"id":ID}`), rpc.Options{})
	if err := c.Call(ended, nil, "method"); !errors.Is(err, chain.ErrSilent) {
		t.Errorf("a context that has ended: got %v", err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	c := client(t, says(200, `{"result":"`+strings.Repeat("x", 2000)+`","id":ID}`), rpc.Options{MaxAnswer: 1000})
	if err := c.Call(t.Context(), nil, "method"); !errors.Is(err, chain.ErrOdd) {
		t.Errorf("got %v", err)
	}
}

// TestPassword checks that the password reaches the node alone, that a refused one is read
// again, and that no error has it.
func TestPassword(t *testing.T) {
	const secret = "s3cret"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with %v", r.Header)
	}))
	t.Cleanup(elsewhere.Close)

	reads := 0
	o := rpc.Options{User: "u", Password: func() (string, error) { reads++; return fmt.Sprintf("%s%d\n", secret, reads), nil }}
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "u" || password == secret+"1":
			w.WriteHeader(http.StatusUnauthorized)
		case password == secret+"2":
			says(200, `{"result":7,"id":ID}`)(w, r)
		default:
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}
	}, o)

	err := c.Call(t.Context(), nil, "method")
	if !errors.Is(err, chain.ErrOdd) || strings.Contains(err.Error(), secret) {
		t.Errorf("a refused password: got %v", err)
	}
	if err := c.Call(t.Context(), nil, "method"); err != nil || reads != 2 {
		t.Errorf("the next password, read %d times: got %v", reads, err)
	}
	if text := fmt.Sprint(c); strings.Contains(text, secret) {
		t.Errorf("the client is %s", text)
	}

	o.Password = func() (string, error) { return "third", nil }
	moved := client(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}, o)
	if err := moved.Call(t.Context(), nil, "method"); !errors.Is(err, chain.ErrOdd) {
		t.Errorf("a redirect: got %v", err)
	}
}

func TestURL(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8332", "ftp://x", "http://", "http://u:p@127.0.0.1:1", "http://x?y", "\x00"} {
		if _, err := rpc.New(rpc.Options{URL: url}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: got %v", url, err)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"1", 1e8, true}, {"0.00000001", 1, true}, {"1e-8", 1, true}, {"1.5E-5", 1500, true}, {"1e+2", 1e10, true},
		{"0", 0, true}, {"0.000000001", 0, false}, {"-1", 0, false}, {"1e99", 0, false}, {"1e-999999999999", 0, false},
		{"21000000.00000000", 21e14, true},
	} {
		var n rpc.Number
		if err := n.UnmarshalJSON([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if got, ok := n.Units(8); ok != c.ok || got != bourse.Units(c.want) {
			t.Errorf("%s: got %s, %t", c.text, got.Format(0), ok)
		}
	}
	for _, text := range []string{`"1"`, "null", "true", strings.Repeat("1", 100)} {
		if new(rpc.Number).UnmarshalJSON([]byte(text)) == nil {
			t.Errorf("%s is taken for a number", text)
		}
	}
}
