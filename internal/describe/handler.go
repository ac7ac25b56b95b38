package describe

import (
	"bytes"
	_ "embed"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	apidocs "github.com/bourse-exchange/bourse/docs/api"
	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

var (
	//go:embed index.html
	indexText string
	//go:embed docs.css
	styles []byte
)

// page is the content of the index.
type page struct {
	Chapters                                                []Chapter
	Spot, Info, Wallet, Account, Pages, Operations, Streams []entry
}

// entry is a name and its purpose.
type entry struct{ Name, Summary string }

// Handler serves the documentation below a path such as /docs: an index in HTML, the guide
// and the descriptions of the interfaces; and /llms.txt. The documents are compressed once
// each by an encoder for clients that want them so. Other paths go to missing. The pages are
// dressed as the brand says; its own texts are at /terms and /privacy.
func Handler(prefix string, b *brand.Brand, encoder *coding.Encoder, missing http.Handler) (http.Handler, error) {
	chapters, err := Guide()
	if err != nil {
		return nil, err
	}
	index, err := render(prefix, b.Name, chapters)
	if err != nil {
		return nil, err
	}

	file := func(kind string, body []byte) file { return newFile(kind, body, encoder) }
	mux := http.NewServeMux()
	if err := serveGuide(mux, prefix, b.Name, chapters, file); err != nil {
		return nil, err
	}
	mux.Handle("GET "+prefix, file("text/html; charset=utf-8", index))
	mux.Handle("GET "+prefix+"/", missing)
	mux.Handle("GET "+prefix+"/{$}", file("text/html; charset=utf-8", index))
	mux.Handle("GET "+prefix+"/docs.css", file("text/css; charset=utf-8", append(slices.Clip(styles), b.Colours.GuideStyles()...)))
	if err := serveExplorer(mux, prefix, b.Name, file); err != nil {
		return nil, err
	}
	if err := serveLegal(mux, prefix, b, file); err != nil {
		return nil, err
	}
	for _, name := range documents {
		text, err := fs.ReadFile(apidocs.Files, name)
		if err != nil {
			return nil, err
		}
		mux.Handle("GET "+prefix+"/"+name, file("application/yaml", text))
	}
	return mux, nil
}

// file is a document as it is sent.
type file struct {
	*coding.File
	// policy is its Content-Security-Policy.
	policy string
}

// docsPolicy lets pages load the style sheet and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func newFile(kind string, body []byte, encoder *coding.Encoder) file {
	return file{coding.NewFile(kind, "no-cache", body, encoder), docsPolicy} // revalidated each time
}

// ServeHTTP answers with the document, under its policy.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", f.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	f.File.ServeHTTP(w, r)
}

// render renders the index from the documents.
func render(prefix, brand string, chapters []Chapter) ([]byte, error) {
	spot, err := endpoints(spotFile)
	if err != nil {
		return nil, err
	}
	info, err := endpoints(infoFile)
	if err != nil {
		return nil, err
	}
	p2p, err := endpoints(p2pFile)
	if err != nil {
		return nil, err
	}
	wallet, err := endpoints(walletFile)
	if err != nil {
		return nil, err
	}
	streams, err := load(streamsFile)
	if err != nil {
		return nil, err
	}
	account1, err := endpoints(account1File)
	if err != nil {
		return nil, err
	}
	account, err := operations(accountFile)
	if err != nil {
		return nil, err
	}
	wallet2, err := operations(wallet2File)
	if err != nil {
		return nil, err
	}
	pages, err := operations(pagesFile)
	if err != nil {
		return nil, err
	}

	web, err := operations(webFile)
	if err != nil {
		return nil, err
	}

	p := page{
		Chapters: chapters, Spot: spot, Info: slices.Concat(info, p2p), Wallet: slices.Concat(wallet, wallet2),
		Account: slices.Concat(account1, account), Pages: slices.Concat(web, pages),
	}
	messages := streams.at("components", "messages")
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		if operation := streams.at("operations", name); operation != nil {
			p.Operations = append(p.Operations, entry{name, marked(name, operation.text("summary"))})
		} else if name != "resp" {
			p.Streams = append(p.Streams, entry{name, marked(name, messages.at(name).text("summary"))})
		}
	}

	t, err := template.New("index").Parse(indexText)
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	err = t.Execute(&out, struct {
		Prefix, Brand string
		page
	}{prefix, brand, p})
	return out.Bytes(), err
}

// endpoints lists the endpoints of a document.
func endpoints(file string) ([]entry, error) {
	doc, err := load(file)
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, path := range slices.Sorted(maps.Keys(doc.at("paths"))) {
		name := doc.prefix() + path
		list = append(list, entry{name, marked(name, doc.at("paths", path, "post").text("summary"))})
	}
	return list, nil
}

// operations lists the operations of a REST V2 document.
func operations(file string) ([]entry, error) {
	doc, err := load(file)
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, path := range slices.Sorted(maps.Keys(doc.at("paths"))) {
		for _, method := range methods {
			if o := doc.at("paths", path, method); o != nil {
				list = append(list, entry{strings.ToUpper(method) + " " + doc.prefix() + path, o.text("summary")})
			}
		}
	}
	return list, nil
}
