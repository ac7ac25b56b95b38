package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"

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
}

// newDress returns the dress of a brand.
func newDress(b *brand.Brand) *dress {
	d := &dress{brand: b, files: map[string][]byte{}}
	if styles := b.Colours.PageStyles(); styles != "" {
		d.styles = d.add(".css", []byte(styles))
	}
	if len(b.Logo.Body) > 0 {
		d.logo = d.add(b.Logo.Extension, b.Logo.Body)
	}
	return d
}

// add adds a file and returns its name.
func (d *dress) add(extension string, body []byte) string {
	sum := sha256.Sum256(body)
	name := fmt.Sprintf("%sbrand-%x%s", assets, sum[:6], extension)
	d.files[name] = body
	return name
}

// shown is what the pages' scripts read of a brand, in the meta element "brand".
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
	page = d.replace(page, titleElement, "<title>"+name+`</title>
    <meta name="brand" content="`+template.HTMLEscapeString(string(d.json()))+`" />`)
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
	text, err := json.Marshal(s)
	if err != nil {
		bourse.Impossible("brand: %v", err)
	}
	return text
}

// place returns where a document is: elsewhere, or at a path of ours.
func place(d *brand.Document, path string) string {
	if len(d.Text) > 0 {
		return path
	}
	return d.URL
}
