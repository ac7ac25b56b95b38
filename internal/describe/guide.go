package describe

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/bourse-exchange/bourse/docs/guide"
)

// Chapter is a chapter of the guide.
type Chapter struct {
	Name, Title string
	// Summary is the text of the first paragraph.
	Summary string
	// Text is the Markdown.
	Text     []byte
	Snippets []Snippet

	body template.HTML
}

// Snippet is a fenced block of a chapter.
type Snippet struct {
	Language string
	// File is the name that the fence gives, empty if it gives none.
	File string
	Text string
}

// Guide returns the chapters of the guide in their order.
func Guide() ([]Chapter, error) {
	var chapters []Chapter
	for _, name := range guide.Names() {
		source, err := guide.Files.ReadFile(name + ".md")
		if err != nil {
			return nil, err
		}
		c, err := newChapter(name, source)
		if err != nil {
			return nil, fmt.Errorf("chapter %s: %w", name, err)
		}
		chapters = append(chapters, c)
	}
	return chapters, nil
}

// newChapter reads and renders a chapter.
func newChapter(name string, source []byte) (Chapter, error) {
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(fences{}, 1))),
	)
	c := Chapter{Name: name, Text: source}
	doc := md.Parser().Parse(text.NewReader(source))

	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			c.see(n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return c, err
	}

	var out bytes.Buffer
	err = md.Renderer().Render(&out, source, doc)
	c.body = template.HTML(out.String()) //nolint:gosec // of our own text; goldmark escapes HTML in it
	return c, err
}

// see keeps a node's title, summary or snippet, and points links to other chapters to their
// pages.
func (c *Chapter) see(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		if n.Level == 1 {
			c.Title = string(n.Lines().Value(c.Text))
		}
	case *ast.Paragraph:
		if c.Summary == "" {
			c.Summary = strings.Join(strings.Fields(string(n.Lines().Value(c.Text))), " ")
		}
	case *ast.Link:
		to, part, found := strings.Cut(string(n.Destination), "#")
		if found {
			part = "#" + part
		}
		n.Destination = []byte(strings.TrimSuffix(to, ".md") + part)
	case *ast.FencedCodeBlock:
		c.Snippets = append(c.Snippets, newSnippet(n, c.Text))
	}
}

// newSnippet reads a fenced block.
func newSnippet(n *ast.FencedCodeBlock, source []byte) Snippet {
	s := Snippet{Language: string(n.Language(source)), Text: string(n.Lines().Value(source))}
	if n.Info != nil {
		_, s.File, _ = strings.Cut(string(n.Info.Value(source)), " ")
	}
	return s
}

// fences renders fenced blocks; one with a file has a link to it.
type fences struct{}

// RegisterFuncs registers the rendering of fenced blocks.
func (fences) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderFence)
}

var fenceForm = template.Must(template.New("fence").Parse(
	`{{if .File}}<p class="file"><a href="{{.File}}">{{.File}}</a></p>
{{end}}<pre class="{{.Language}}" tabindex="0"><code>{{.Text}}</code></pre>
`))

func renderFence(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkSkipChildren, fenceForm.Execute(w, newSnippet(n.(*ast.FencedCodeBlock), source))
}
