package cosmos_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/cosmos"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// TestRefOfChain asks nodes for block 0, which no chain has: the answer is the same for nodes of one chain alone.
func TestRefOfChain(t *testing.T) {
	keys, err := cosmos.NewKeys(params(), seed)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(network string) chain.BlockRef {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q struct {
				ID json.Number `json:"id"`
			}
			_ = json.NewDecoder(r.Body).Decode(&q)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"node_info":{"network":%q},"sync_info":{"catching_up":false}}}`, q.ID, network)
		}))
		defer s.Close()
		node, err := rpc.New(rpc.Options{URL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		c, err := cosmos.NewClient(params(), keys.Public(), cosmos.Options{Node: node})
		if err != nil {
			t.Fatal(err)
		}
		ref, _, err := c.Ref(t.Context(), 0)
		if err != nil || ref.Height != 0 || ref.Hash == (chain.Hash{}) {
			t.Errorf("block 0 of %s is %v, %v", network, ref, err)
		}
		return ref
	}
	if one := ask("dev-1"); one != ask("dev-1") || one == ask("dev-2") {
		t.Error("block 0 does not tell chains apart")
	}
}
