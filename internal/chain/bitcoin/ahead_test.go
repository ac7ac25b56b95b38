package bitcoin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// shelf is a node that serves blocks by REST, whose bytes are their names.
type shelf struct {
	mu sync.Mutex
	// names are the hashes of its blocks by height, served the requests that it answered.
	names  []chain.Hash
	served []string
	// hold, if not nil, holds answers up.
	hold chan struct{}
	// broken refuses everything.
	broken bool
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hold, broken := s.hold, s.broken
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if broken {
		http.Error(w, "broken", http.StatusServiceUnavailable)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/rest/block/"), ".bin")
		s.served = append(s.served, name)
		_, _ = w.Write([]byte(name))
		return
	}
	var q struct {
		ID     json.Number `json:"id"`
		Params []uint64    `json:"params"`
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	_, _ = fmt.Fprintf(w, `{"result":%q,"id":%s}`, formatHash(s.names[q.Params[0]]), q.ID)
}

func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// newShelf returns a node of four blocks, and a client that knows that there are three above the first.
func newShelf(t *testing.T) (*shelf, *Client) {
	t.Helper()
	s := &shelf{names: []chain.Hash{{1}, {2}, {3}, {4}}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	node, err := rpc.New(rpc.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	c := asking(t, nil)
	c.options.Node, c.top = node, 3
	return s, c
}

// wants asks for a block, and wants its bytes and that the node served so many in all.
func (s *shelf) wants(t *testing.T, c *Client, height uint64, served int) {
	t.Helper()
	raw, err := c.bytesOf(t.Context(), height, s.names[height])
	s.mu.Lock()
	defer s.mu.Unlock()
	if string(raw) != formatHash(s.names[height]) || err != nil || len(s.served) != served {
		t.Errorf("block %d is %q, %v; the node served %d, want %d", height, raw, err, len(s.served), served)
	}
}

// TestAhead reads blocks that were read ahead, and others.
func TestAhead(t *testing.T) {
	s, c := newShelf(t)
	c.readAhead(t.Context(), 1)
	s.wants(t, c, 1, 1)
	s.wants(t, c, 1, 2) // it was handed out

	c.readAhead(t.Context(), 2)
	<-c.next.done
	s.wants(t, c, 3, 4) // another one
	s.set(func() { s.names[2] = chain.Hash{12} })
	s.wants(t, c, 2, 5) // the chain has another block there now

	c.readAhead(t.Context(), 4)
	if c.next != nil {
		t.Error("a block is read that the chain does not have")
	}
	s.set(func() { s.broken = true })
	c.readAhead(t.Context(), 3)
	<-c.next.done
	s.set(func() { s.broken = false })
	s.wants(t, c, 3, 6)
}

// TestAheadIsOne holds a node up while a block is read ahead. No second block is read ahead, and a caller can stop waiting.
func TestAheadIsOne(t *testing.T) {
	s, c := newShelf(t)
	hold := make(chan struct{})
	s.set(func() { s.hold = hold })
	c.readAhead(t.Context(), 1)
	first := c.next
	c.readAhead(t.Context(), 2)
	if c.next != first {
		t.Error("a second block is read ahead")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if raw, err := c.bytesOf(ctx, 1, s.names[1]); !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v", raw, err)
	}
	close(hold)
	<-first.done
	s.set(func() { s.hold = nil })
	s.wants(t, c, 1, 2)
}
