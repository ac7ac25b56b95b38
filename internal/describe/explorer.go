package describe

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
)

var (
	//go:embed explorer.html
	explorerText string
	//go:embed explorer.js
	explorerScript []byte
	//go:embed explorer.css
	explorerStyles []byte
)

// explorerPolicy gives the explorer an origin of its own, which can read nothing of the exchange:
// no cookie, no storage, no answer.
const explorerPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts"

// explored is an OpenAPI document in the explorer.
type explored struct {
	File, Title string
	Operations  []exploredOperation
}

// exploredOperation is a method of a path.
type exploredOperation struct {
	// ID is the fragment that leads to it.
	ID, Method, Path, Summary string
	// Key is set if the operation needs a key.
	Key         bool
	Description template.HTML
	Parameters  []field
	Body        []field
	// Examples are bodies, Curl is a line for a shell.
	Examples []sample
	Curl     string
	Answers  []exploredAnswer
}

// exploredAnswer is an answer by its status.
type exploredAnswer struct {
	Status      string
	Description template.HTML
	Fields      []field
	Examples    []sample
}

// sample is an example, as JSON.
type sample struct{ Name, Text string }

// serveExplorer registers the explorer of the OpenAPI documents.
func serveExplorer(
	mux *http.ServeMux, prefix, brand string, docs map[string]document, serve func(kind string, body []byte) file,
) error {
	var list []explored
	for _, name := range slices.Concat(restFiles, restV2Files) {
		e, err := explore(name, docs[name])
		if err != nil {
			return err
		}
		list = append(list, e)
	}

	t, err := template.New("explorer").Parse(explorerText)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct {
		Prefix, Brand string
		Documents     []explored
	}{prefix, brand, list}); err != nil {
		return err
	}

	page := serve("text/html; charset=utf-8", out.Bytes())
	page.policy = explorerPolicy
	mux.Handle("GET "+prefix+"/explorer", page)
	mux.Handle("GET "+prefix+"/explorer.js", serve("text/javascript; charset=utf-8", explorerScript))
	mux.Handle("GET "+prefix+"/explorer.css", serve("text/css; charset=utf-8", explorerStyles))
	return nil
}

// explore reads a document.
func explore(file string, doc document) (explored, error) {
	e := explored{File: file, Title: doc.at("info").text("title")}
	for _, path := range slices.Sorted(maps.Keys(doc.at("paths"))) {
		for _, method := range methods {
			if o := doc.at("paths", path, method); o != nil {
				one, err := exploreOperation(doc, path, method, o)
				if err != nil {
					return e, err
				}
				one.ID = strings.TrimSuffix(file, ".yaml") + "-" + o.text("operationId")
				e.Operations = append(e.Operations, one)
			}
		}
	}
	return e, nil
}

func exploreOperation(doc document, path, method string, o document) (e exploredOperation, err error) {
	e.Method, e.Path, e.Summary = strings.ToUpper(method), doc.prefix()+path, o.text("summary")
	e.Key = needsKey(doc, o)
	if e.Description, err = markdown(o.text("description")); err != nil {
		return e, err
	}

	for _, p := range slices.Concat(doc.list(doc.at("paths", path)["parameters"]), doc.list(o["parameters"])) {
		f := doc.fieldOf(p.text("name"), p.at("schema"), p["required"] == true)
		f.Kind += ", in " + p.text("in")
		if text := p.text("description"); text != "" {
			f.Description = text
		}
		e.Parameters = append(e.Parameters, f)
	}

	content := doc.resolve(o.at("requestBody")).at("content", "application/json")
	e.Body = doc.fields(content.at("schema"))
	if e.Examples, err = doc.samples(content); err != nil {
		return e, err
	}
	e.Curl = curl(&e)

	responses := o.at("responses")
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		r := doc.resolve(responses.at(status))
		a := exploredAnswer{Status: status}
		if a.Description, err = markdown(r.text("description")); err != nil {
			return e, err
		}
		json := r.at("content", "application/json")
		a.Fields = doc.fields(json.at("schema"))
		if a.Examples, err = doc.samples(json); err != nil {
			return e, err
		}
		e.Answers = append(e.Answers, a)
	}
	return e, nil
}

// needsKey reports whether an operation needs a key: its own security, or else the document's.
func needsKey(doc, o document) bool {
	security, own := o["security"].([]any)
	if !own {
		security, _ = doc["security"].([]any)
	}
	return len(security) > 0
}

// markdown renders the text of a description.
func markdown(text string) (template.HTML, error) {
	var out bytes.Buffer
	err := goldmark.Convert([]byte(text), &out)
	return template.HTML(out.String()), err //nolint:gosec // of our own text; goldmark leaves HTML in it out
}

// curl returns a line for a shell with the first example.
func curl(e *exploredOperation) string {
	line := "curl"
	if e.Method != http.MethodGet && (e.Method != http.MethodPost || len(e.Body) == 0) {
		line += " -X " + e.Method
	}
	if _, signed := fieldNamed(e.Body, "api_key"); e.Key && !signed {
		line += ` -H "Authorization: Bearer $KEY"`
	}

	switch {
	case len(e.Examples) > 0:
		line += " -d " + quoted(e.Examples[0].Text)
	case len(e.Body) > 0:
		line += " -d " + quoted(skeleton(e.Body))
	}
	return line + ` "$BASE` + e.Path + `"`
}

// quoted quotes a text for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// skeleton returns a body with the required fields of the first level.
func skeleton(body []field) string {
	var members []string
	for _, f := range body {
		if f.Depth == 0 && f.Required {
			members = append(members, `"`+f.Name+`":"…"`)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func fieldNamed(list []field, name string) (field, bool) {
	for _, f := range list {
		if f.Depth == 0 && f.Name == name {
			return f, true
		}
	}
	return field{}, false
}
