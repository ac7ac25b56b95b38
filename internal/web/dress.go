package web

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"html/template"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/brand"
)

// dress is a brand as the pages have it: files beside those of the build, and changes of the
// index. Bourse's own changes the index's name alone.
type dress struct {
	brand *brand.Brand
	// files are the brand's files by name, which holds the hash of the content.
	files map[string][]byte
	// styles and logo are the names in files; empty for none.
	styles, logo string
	// languages is the list of added languages in JSON; nil for none.
	languages []byte
}

// newDress returns the dress of a brand, with the languages that the operator adds for a site with English texts.
func newDress(b *brand.Brand, languages []Language, english map[string]string) *dress {
	d := &dress{brand: b, files: map[string][]byte{}}
	if styles := b.Colours.PageStyles(); styles != "" {
		d.styles = d.add("brand", ".css", []byte(styles))
	}
	if len(b.Logo.Body) > 0 {
		d.logo = d.add("brand", b.Logo.Extension, b.Logo.Body)
	}
	d.languages = d.translate(languages, english)
	return d
}

// add adds a file and returns its name.
func (d *dress) add(what, extension string, body []byte) string {
	name := named(what, extension, body)
	d.files[name] = body
	return name
}

// shown is the part of a brand for the pages' scripts, in the meta element "brand".
type shown struct {
	Name    string `json:"name"`
	Logo    string `json:"logo"`
	Terms   string `json:"terms"`
	Version string `json:"version"`
	Privacy string `json:"privacy"`
	Support string `json:"support"`
}

// The elements of the index that a brand changes.
const (
	titleElement = "<title>Bourse</title>"
	iconElement  = `<link rel="icon" href="/favicon.svg" type="image/svg+xml" />`
)

// index returns the index with the brand's name, addresses, icon and colours.
func (d *dress) index(page []byte) []byte {
	name := template.HTMLEscapeString(d.brand.Name)
	page = d.replace(page, titleElement, "<title>"+name+"</title>"+meta("brand", d.json()))
	if d.languages != nil {
		page = d.replace(page, "</head>", meta("languages", d.languages)+"</head>")
	}
	if d.logo != "" {
		page = d.replace(page, iconElement, `<link rel="icon" href="/`+d.logo+`" />`)
	}
	if d.styles != "" {
		page = d.replace(page, "</head>", `<link rel="stylesheet" href="/`+d.styles+`"></head>`)
	}
	return page
}

// replace replaces an element that the build has once.
func (d *dress) replace(page []byte, element, by string) []byte {
	if bytes.Count(page, []byte(element)) != 1 {
		bourse.Impossible("%s has %s not once", indexFile, element)
	}
	return bytes.Replace(page, []byte(element), []byte(by), 1)
}

func (d *dress) json() []byte {
	b := d.brand
	s := shown{
		Name:  b.Name,
		Terms: place(&b.Terms.Document, "/terms"), Version: b.Terms.Version,
		Privacy: place(&b.Privacy, "/privacy"), Support: b.Support,
	}
	if d.logo != "" {
		s.Logo = "/" + d.logo
	}
	return encoded(s)
}

// meta returns an element of the index that holds JSON for the pages' scripts.
func meta(name string, content []byte) string {
	return "\n    <meta name=\"" + name + "\" content=\"" + template.HTMLEscapeString(string(content)) + "\" />"
}

// place returns the address of a document: elsewhere, or a path of the exchange.
func place(d *brand.Document, path string) string {
	if len(d.Text) > 0 {
		return path
	}
	return d.URL
}

// encoded returns a value as JSON.
func encoded(value any) []byte {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		bourse.Impossible("encode %T: %v", value, err)
	}
	return text
}

// named returns the name of an asset with the hash of its content.
func named(what, extension string, body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%s%s-%x%s", assets, what, sum[:6], extension)
}
