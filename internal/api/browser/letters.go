package browser

import (
	"bytes"
	"html/template"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/wire"
)

var lettersPage = template.Must(template.New("letters").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Letters</title>
<h1>Letters to <bdi>{{.To}}</bdi></h1>
{{range .Letters}}
<h2>{{.Subject}}</h2>
<p><time>{{.Sent}}</time></p>
<pre>{{.Text}}</pre>
{{else}}
<p>There is none.</p>
{{end}}</html>
`))

// errElsewhere is the error for a client on another machine.
var errElsewhere = api.Errorf(codes.Forbidden, "Letters are shown on this machine alone, by a name such as localhost")

// Letters returns the handler that shows a sandbox's letters to the address in the field to:
// as JSON to a client that asks for it, else as a page. Letters hold codes, so that only a
// client on the same machine gets them, by a name that no stranger can lead here and through no
// proxy.
func Letters(box *mail.Box, from func(*http.Request) netip.Addr) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Headers{}.SetPrivate(w.Header())
		to, err := account.NormalizeEmail(r.URL.Query().Get("to"))
		switch {
		case !edge.IsLoopback(r.Host) || !from(r).IsLoopback() || isForwarded(r.Header):
			v2.Refuse(w, errElsewhere)
		case err != nil:
			v2.Refuse(w, api.Invalid("to", "is no e-mail address"))
		case strings.Contains(r.Header.Get("Accept"), "application/json"):
			writeLetters(w, box.Letters(to))
		default:
			showLetters(w, to, box.Letters(to))
		}
	})
}

// isForwarded reports whether a proxy asks for a client that may be anywhere. A proxy on this
// machine that is no trusted one has the address of this machine, and often its name.
func isForwarded(h http.Header) bool {
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if _, given := h[name]; given {
			return true
		}
	}
	return false
}

func writeLetters(w http.ResponseWriter, list []mail.Letter) {
	out := wire.NewWriter(nil)
	out.Array()
	for i := range list {
		l := &list[i]
		out.Object()
		out.Text("to", l.To)
		out.Text("subject", l.Subject)
		out.Text("text", l.Text)
		out.Maybe("code", l.Code)
		out.Seconds("time", l.Time)
		out.EndObject()
	}
	out.EndArray()

	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out.Bytes()) // the client may be gone
}

func showLetters(w http.ResponseWriter, to string, list []mail.Letter) {
	type shown struct {
		account.Mail
		Sent string
	}
	page := struct {
		To      string
		Letters []shown
	}{To: to}
	for i := range list {
		sent := list[i].Time.Std().Format(time.DateTime)
		page.Letters = append(page.Letters, shown{list[i].Mail, sent})
	}

	var out bytes.Buffer
	_ = lettersPage.Execute(&out, page) // a buffer takes everything
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the client may be gone
}
