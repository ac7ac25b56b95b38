package describe

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/bourse-exchange/bourse/internal/brand"
)

//go:embed legal.html
var legalText string

// legal is a page with an operator's text.
type legal struct {
	Prefix, Brand, Title, Version string
	Body                          template.HTML
}

// serveLegal registers the pages of the brand's own texts: terms and privacy.
func serveLegal(mux *http.ServeMux, prefix string, b *brand.Brand, serve func(kind string, body []byte) file) error {
	t, err := template.New("legal").Parse(legalText)
	if err != nil {
		return err
	}

	for path, page := range map[string]struct {
		legal
		text []byte
	}{
		"/terms":   {legal{prefix, b.Name, "Terms", b.Terms.Version, ""}, b.Terms.Text},
		"/privacy": {legal{prefix, b.Name, "Privacy", "", ""}, b.Privacy.Text},
	} {
		if len(page.text) == 0 {
			continue
		}
		if page.Body, err = renderLegal(page.text); err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, page); err != nil {
			return err
		}
		mux.Handle("GET "+path, serve("text/html; charset=utf-8", out.Bytes()))
	}
	return nil
}

// renderLegal renders Markdown. HTML in it is left out.
func renderLegal(source []byte) (template.HTML, error) {
	var out bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(source, &out)
	return template.HTML(out.String()), err //nolint:gosec // goldmark leaves HTML and dangerous addresses out
}
