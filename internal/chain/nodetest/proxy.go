package nodetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// Proxy is between a client and its node, and makes faults.
type Proxy struct {
	// URL is the proxy's address.
	URL  string
	node *Node

	mu sync.Mutex
	// stopped is true if no request is answered. Guarded by mu, like the fields below.
	stopped bool
	// lost is a method whose next answer is lost.
	lost string
	// lag is added to the blocks that the node says it knows.
	lag uint64
	// hidden are the last blocks of a CometBFT node that it does not know of.
	hidden uint64
	// spoil, if not nil, changes every answer.
	spoil func([]byte) []byte
}

// NewProxy starts a proxy, which stops with the test.
func NewProxy(t testing.TB, n *Node) *Proxy {
	t.Helper()
	p := &Proxy{node: n}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.URL = s.URL
	return p
}

// Stop has the proxy accept requests and answer none, until Start.
func (p *Proxy) Stop() { p.change(func() { p.stopped = true }) }

// Start ends Stop.
func (p *Proxy) Start() { p.change(func() { p.stopped = false }) }

// Lose loses the answer to the next call of a method, which reaches the node.
func (p *Proxy) Lose(method string) { p.change(func() { p.lost = method }) }

// Lag has the node say that it knows of so many blocks more than it has.
func (p *Proxy) Lag(blocks uint64) { p.change(func() { p.lag = blocks }) }

// Hide has a CometBFT node not know of its last blocks.
func (p *Proxy) Hide(blocks uint64) { p.change(func() { p.hidden = blocks }) }

// Spoil has every answer changed, until Mend.
func (p *Proxy) Spoil(how func([]byte) []byte) { p.change(func() { p.spoil = how }) }

// Mend ends Spoil.
func (p *Proxy) Mend() { p.Spoil(nil) }

func (p *Proxy) change(set func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	set()
}

var (
	headersForm = regexp.MustCompile(`"headers":\s*(\d+)`)
	heightForm  = regexp.MustCompile(`"last_block_height":"(\d+)"`)
)

// ServeHTTP passes a request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	stopped, spoil, lag, hidden := p.stopped, p.spoil, p.lag, p.hidden
	lost := p.lost != "" && bytes.Contains(asked, []byte(`"method":"`+p.lost+`"`))
	if lost {
		p.lost = ""
	}
	p.mu.Unlock()
	if stopped {
		<-r.Context().Done()
		return
	}

	status, body, err := p.pass(r, asked)
	if lost {
		<-r.Context().Done()
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the client's connection ends like the node's
	}
	body = headersForm.ReplaceAllFunc(body, func(b []byte) []byte {
		n, _ := strconv.ParseUint(string(headersForm.FindSubmatch(b)[1]), 10, 64)
		return strconv.AppendUint([]byte(`"headers":`), n+lag, 10)
	})
	body = heightForm.ReplaceAllFunc(body, func(b []byte) []byte {
		n, _ := strconv.ParseUint(string(heightForm.FindSubmatch(b)[1]), 10, 64)
		return fmt.Appendf(nil, `"last_block_height":"%d"`, n-hidden)
	})
	if lag > 0 {
		body = bytes.Replace(body, []byte(`"catching_up":false`), []byte(`"catching_up":true`), 1)
	}
	if lag > 0 && bytes.Contains(asked, []byte(`"method":"eth_syncing"`)) {
		body = bytes.Replace(body, []byte(`"result":false`),
			fmt.Appendf(nil, `"result":{"currentBlock":"0x1","highestBlock":"0x%x"}`, 1+lag), 1)
	}
	if spoil != nil {
		body = spoil(body)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// pass asks the node.
func (p *Proxy) pass(r *http.Request, asked []byte) (int, []byte, error) {
	to, err := http.NewRequestWithContext(r.Context(), r.Method, p.node.URL+r.URL.Path, bytes.NewReader(asked))
	if err != nil {
		return 0, nil, err
	}
	to.Header = r.Header.Clone()
	to.Header.Del("Accept-Encoding") // faults are made in plain answers
	answer, err := http.DefaultClient.Do(to)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, body, err
}
