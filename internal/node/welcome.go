package node

import (
	"io"
	"net/http"
	"strings"

	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// step is something to do next: an address to open, or a line to type.
type step struct{ Do, At, Type string }

// welcome shows the next steps to a client that is no browser, which gets a page here.
func (n *Node) welcome(w http.ResponseWriter, _ *http.Request) {
	what := "This is a spot exchange."
	if n.Sandbox != nil {
		what = "This is the sandbox of a spot exchange: its money is worth nothing."
	}

	var out strings.Builder
	out.WriteString(what + "\n\n")
	for _, s := range n.steps() {
		if s.At != "" {
			s.At = n.PublicURL + s.At
		}
		out.WriteString(s.Do + ":\n  " + s.At + s.Type + "\n")
	}

	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, out.String()) // the client may be gone
}

// steps returns the next steps of a visitor.
func (n *Node) steps() []step {
	list := []step{{Do: "See the markets", At: "/spot/markets_ex?offset=0"}}
	if n.view.Catalogue().Market(sandbox.DefaultPair) != nil {
		list = append(list, step{Do: "See an order book",
			At: "/spot/orderbook?depth=10&pair=" + string(sandbox.DefaultPair)})
	}
	if n.Sandbox != nil {
		list = append(list, step{Do: "Open an account and trade, beside the exchange",
			Type: "bourse admin account create you@example.org"})
	} else {
		list = append(list, step{Do: "Sign up", At: "/docs/account.yaml"})
	}
	return append(list,
		step{Do: "Follow what happens", Type: "ws" + strings.TrimPrefix(n.PublicURL, "http") + "/stream"},
		step{Do: "Write a client: a guide, and what the interfaces take and answer", At: "/docs"},
	)
}
