package connect_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
	"github.com/bourse-exchange/bourse/internal/connect"
)

// TestNodesTogether connects a network of two nodes, which are away, and looks at each of them.
func TestNodesTogether(t *testing.T) {
	const one, two = `[{url: "http://127.0.0.1:8545"}]`, `[{url: "http://127.0.0.1:1"}, {url: "http://127.0.0.1:2"}]`
	text := strings.Replace(block(t), one, two, 1)
	list, err := connect.ParseProduction([]byte(strings.Replace(text, "params: 1", "fees: {stuck: 7}\n  params: 1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	eth := &list[1]
	l := connect.Local{Clock: func() bourse.Time { return 0 }, Native: "ETH"}
	c, err := eth.Connect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, several := c.Network.(*quorum.Network); !several {
		t.Errorf("the network is a %T", c.Network)
	}

	if c.Stuck != 7 {
		t.Errorf("payments are stuck after %d blocks", c.Stuck)
	}

	reports, err := eth.Survey(t.Context(), l, nil)
	if err != nil || len(reports) != 2 {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	for i, wants := range [][]string{{"node 1: the node: ", "the nodes together: "}, {"node 2: the node: "}} {
		r := reports[i]
		if len(r.Problems) != len(wants) || !strings.HasSuffix(r.Node, []string{":1", ":2"}[i]) {
			t.Fatalf("node %d: %+v", i+1, r)
		}
		for n, want := range wants {
			if !strings.HasPrefix(r.Problems[n], want) {
				t.Errorf("node %d: %q does not begin with %q", i+1, r.Problems[n], want)
			}
		}
	}
	if len(reports[0].Addresses) == 0 || len(reports[1].Addresses) > 0 {
		t.Error("the addresses are not in the first report")
	}
}
