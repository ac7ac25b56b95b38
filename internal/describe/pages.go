package describe

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	text "text/template"
)

var (
	//go:embed guide.html
	chapterText string
	//go:embed llms.txt
	llmsText string
)

// kinds are the content types of programs, by the language of their fence.
var kinds = map[string]string{"python": "text/x-python; charset=utf-8", "js": "text/javascript; charset=utf-8"}

// serveGuide registers the chapters, as pages and as Markdown, and their programs.
func serveGuide(
	mux *http.ServeMux, prefix, brand string, chapters []Chapter, serve func(kind string, body []byte) file,
) error {
	t, err := template.New("chapter").Parse(chapterText)
	if err != nil {
		return err
	}

	for i := range chapters {
		c := &chapters[i]
		page, err := renderChapter(t, prefix, brand, chapters, i)
		if err != nil {
			return err
		}
		mux.Handle("GET "+prefix+"/"+c.Name, serve("text/html; charset=utf-8", page))
		mux.Handle("GET "+prefix+"/"+c.Name+".md", serve("text/markdown; charset=utf-8", c.Text))
		for _, s := range c.programs() {
			mux.Handle("GET "+prefix+"/"+s.File, serve(kinds[s.Language], []byte(s.Text)))
		}
	}

	return nil
}

// programs returns the snippets that have a file.
func (c *Chapter) programs() []Snippet {
	return slices.DeleteFunc(slices.Clone(c.Snippets), func(s Snippet) bool { return s.File == "" })
}

// renderChapter renders the page of a chapter.
func renderChapter(t *template.Template, prefix, brand string, chapters []Chapter, at int) ([]byte, error) {
	c := &chapters[at]
	page := struct {
		Prefix, Brand, Name, Title string
		Body                       template.HTML
		Chapters                   []Chapter
		Before, After              *Chapter
	}{Prefix: prefix, Brand: brand, Name: c.Name, Title: c.Title, Body: c.body, Chapters: chapters}
	if at > 0 {
		page.Before = &chapters[at-1]
	}
	if at+1 < len(chapters) {
		page.After = &chapters[at+1]
	}

	var out bytes.Buffer
	err := t.Execute(&out, page)
	return out.Bytes(), err
}

// renderList renders /llms.txt, which lists the guide and the documents for programs that read.
func renderList(prefix, brand string, chapters []Chapter, docs map[string]document) ([]byte, error) {
	list := struct {
		Prefix    string
		Brand     string
		Chapters  []Chapter
		Programs  []string
		Documents []entry
	}{Prefix: prefix, Brand: brand, Chapters: chapters}
	for i := range chapters {
		for _, s := range chapters[i].programs() {
			list.Programs = append(list.Programs, s.File)
		}
	}
	for _, name := range documents {
		doc := docs[name]
		form := "OpenAPI"
		if doc.text("openapi") == "" {
			form = "AsyncAPI"
		}
		list.Documents = append(list.Documents, entry{name, doc.at("info").text("title") + ", in " + form})
	}

	t, err := text.New("llms").Parse(llmsText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, list)
	return out.Bytes(), err
}
