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
	docs, err := loadAll()
	if err != nil {
		return nil, err
	}
	index, err := render(prefix, b.Name, chapters, docs)
	if err != nil {
		return nil, err
	}

	file := func(kind string, body []byte) file { return newFile(kind, body, encoder) }
	mux := http.NewServeMux()
	if err := serveGuide(mux, prefix, b.Name, chapters, file); err != nil {
		return nil, err
	}
	list, err := renderList(prefix, b.Name, chapters, docs)
	if err != nil {
		return nil, err
	}
	mux.Handle("GET /llms.txt", file("text/plain; charset=utf-8", list))
	mux.Handle("GET "+prefix, file("text/html; charset=utf-8", index))
	mux.Handle("GET "+prefix+"/", missing)
	mux.Handle("GET "+prefix+"/{$}", file("text/html; charset=utf-8", index))
	mux.Handle("GET "+prefix+"/docs.css", file("text/css; charset=utf-8", append(slices.Clip(styles), b.Colours.GuideStyles()...)))
	if err := serveExplorer(mux, prefix, b.Name, docs, file); err != nil {
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
func render(prefix, brand string, chapters []Chapter, docs map[string]document) ([]byte, error) {
	list := func(of func(document) []entry, names ...string) (all []entry) {
		for _, name := range names {
			all = append(all, of(docs[name])...)
		}
		return all
	}
	p := page{
		Chapters: chapters, Spot: list(endpoints, spotFile), Info: list(endpoints, infoFile, p2pFile),
		Wallet:  append(list(endpoints, walletFile), list(operations, wallet2File)...),
		Account: append(list(endpoints, account1File), list(operations, accountFile)...),
		Pages:   list(operations, webFile, pagesFile),
	}
	streams := docs[streamsFile]
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

// endpoints lists the endpoints of a REST V1 document.
func endpoints(doc document) (list []entry) {
	for _, path := range slices.Sorted(maps.Keys(doc.at("paths"))) {
		name := doc.prefix() + path
		list = append(list, entry{name, marked(name, doc.at("paths", path, "post").text("summary"))})
	}
	return list
}

// operations lists the operations of a REST V2 document.
func operations(doc document) (list []entry) {
	for _, path := range slices.Sorted(maps.Keys(doc.at("paths"))) {
		for _, method := range methods {
			if o := doc.at("paths", path, method); o != nil {
				list = append(list, entry{strings.ToUpper(method) + " " + doc.prefix() + path, o.text("summary")})
			}
		}
	}
	return list
}
