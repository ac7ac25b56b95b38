package node

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// welcomePage is the page at the root of an exchange's address.
var welcomePage = template.Must(template.New("welcome").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Bourse</title>
<h1>Bourse</h1>
<p>{{.What}}</p>
<ul>
{{- range .Steps}}
<li>{{.Do}}:
{{- if .At}} <a href="{{.At}}">{{.At}}</a>{{else}} <code>{{.Type}}</code>{{end}}</li>
{{- end}}
</ul></html>
`))

// step is something to do next: an address to open, or a line to type.
type step struct{ Do, At, Type string }

// welcome shows a visitor the next steps: a browser as a page, any other client as text.
func (n *Node) welcome(w http.ResponseWriter, r *http.Request) {
	page := struct {
		What  string
		Steps []step
	}{What: "This is a spot exchange.", Steps: n.steps()}
	if n.Sandbox != nil {
		page.What = "This is the sandbox of a spot exchange: its money is worth nothing."
	}

	h := w.Header()
	h.Set("Vary", "Accept")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	var out bytes.Buffer
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Set("Content-Type", "text/html; charset=utf-8")
		_ = welcomePage.Execute(&out, page) // a buffer takes everything
	} else {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		out.WriteString(page.What + "\n\n")
		for _, s := range page.Steps {
			if s.At != "" {
				s.At = n.PublicURL + s.At
			}
			out.WriteString(s.Do + ":\n  " + s.At + s.Type + "\n")
		}
	}
	_, _ = w.Write(out.Bytes()) // the client may be gone
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
