package zoo

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// product holds the parsed packages of the product, by directory.
type product map[string][]*source

// source is a file of the product.
type source struct {
	// name is relative to the top of the tree.
	name string
	text string
	fset *token.FileSet
	file *ast.File
}

// function is a declared function with a body.
type function struct {
	*source
	// name is in the form of go doc: a function's, or TYPE.METHOD.
	name string
	decl *ast.FuncDecl
}

// A span is a part of a file's text.
type span struct{ from, to int }

// locate returns the function of a bug and the span of its original.
func (p product) locate(b *bug) (function, span, error) {
	all, err := p.functions(b.pkg)
	if err != nil {
		return function{}, span{}, err
	}
	named := slices.DeleteFunc(slices.Clone(all), func(f function) bool { return f.name != b.function })
	if len(named) != 1 {
		return function{}, span{}, fmt.Errorf("%s has %d functions %s, not one: name in the line \"in\" the function "+
			"that does now what the bug is about%s", b.pkg, len(named), b.function, owners(all, b.original))
	}

	f := named[0]
	switch found := f.find(b.original); len(found) {
	case 0:
		return f, span{}, fmt.Errorf("%s has no such statement or expression: write what does this now, "+
			"and what the bug makes of it, into the bug's file%s\n%s", f.name, owners(all, b.original), b.original)
	case 1:
		return f, found[0], nil
	default:
		return f, span{}, fmt.Errorf("%s has this %d times: add the statement before it or after it, "+
			"or more of the expression, to both texts\n%s", f.name, len(found), b.original)
	}
}

// owners lists the functions that contain the original of a bug, as the end of an error.
func owners(all []function, original string) string {
	var names []string
	for _, f := range all {
		if len(f.find(original)) > 0 {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; this text is in " + strings.Join(names, ", ")
}

// functions returns the functions of a package, except those of tests and of other
// systems.
func (p product) functions(dir string) ([]function, error) {
	if p[dir] == nil {
		var err error
		if p[dir], err = readPackage(dir); err != nil {
			return nil, err
		}
	}
	var all []function
	for _, s := range p[dir] {
		all = append(all, s.functions()...)
	}
	return all, nil
}

func readPackage(dir string) ([]*source, error) {
	pkg, err := build.ImportDir(filepath.Join(root, dir), 0)
	if err != nil {
		return nil, err
	}
	var files []*source
	for _, name := range pkg.GoFiles {
		text, err := os.ReadFile(filepath.Join(pkg.Dir, name))
		if err != nil {
			return nil, err
		}
		s, err := parseSource(filepath.Join(dir, name), string(text))
		if err != nil {
			return nil, err
		}
		files = append(files, s)
	}
	return files, nil
}

func parseSource(name, text string) (*source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	return &source{name: name, text: text, fset: fset, file: file}, err
}

func (s *source) functions() []function {
	var all []function
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			all = append(all, function{source: s, name: functionName(f), decl: f})
		}
	}
	return all
}

// functionName returns a function's name, after its receiver's type and a dot.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// find returns the spans of code in a function: a statement, several in a row, a case, or
// an expression.
func (f function) find(code string) []span {
	want := normal(code)
	var found []span
	add := func(from, to ast.Node) {
		s := span{f.offset(from.Pos()), f.offset(to.End())}
		// A call is both an expression and a statement.
		if !slices.Contains(found, s) && normal(f.text[s.from:s.to]) == want {
			found = append(found, s)
		}
	}

	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			add(e, e)
		}
		list := statements(n)
		for i := range list {
			for j := i; j < len(list); j++ {
				add(list[i], list[j])
			}
		}
		return true
	})
	return found
}

// statements returns the statements of a block or a case.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	default:
		return nil
	}
}

func (s *source) offset(at token.Pos) int { return s.fset.Position(at).Offset }

// normal returns the tokens of code separated by spaces, without comments, layout, and
// the semicolons and trailing commas that depend on the layout.
func normal(code string) string {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(code)), []byte(code), nil, 0)
	var tokens []string
	for {
		_, kind, text := s.Scan()
		last := len(tokens) - 1
		closes := kind == token.RPAREN || kind == token.RBRACE || kind == token.RBRACK || kind == token.EOF
		if closes && last >= 0 && (tokens[last] == ";" || tokens[last] == ",") {
			tokens = tokens[:last]
		}

		switch {
		case kind == token.EOF:
			return strings.Join(tokens, " ")
		case kind.IsLiteral():
			tokens = append(tokens, text)
		default:
			tokens = append(tokens, kind.String())
		}
	}
}

func TestLocate(t *testing.T) {
	s, err := parseSource("p.go", `package p

func f(a, b int) int {
	if a > b {
		return g(a) // why
	}
	switch a {
	case 1:
		return 1
	case 2, b:
	}
	a++
	b++
	a++
	return h(a,
		b,
	)
}

func (l *list[K, V]) f() { l.n = 0 }

func (l list[K, V]) again() { l.n = 0 }

func twice() {}

func twice() {}
`)
	if err != nil {
		t.Fatal(err)
	}
	p := product{"p": {s}}
	for _, c := range []struct{ function, original, want string }{
		{"f", "a > b", "a > b"},
		{"f", "return g(a)", "return g(a)"},
		{"f", "if a > b { return g(a) }", "if a > b {\n\t\treturn g(a) // why\n\t}"},
		{"f", "case 1:\n\n// one\nreturn 1", "case 1:\n\t\treturn 1"},
		{"f", "a++\nb++", "a++\n\tb++"},
		{"f", "b++", "b++"},
		{"f", "return h(a, b)", "return h(a,\n\t\tb,\n\t)"},
		{"list.f", "l.n = 0", "l.n = 0"},
		{"f", "a++", "f has this 2 times: add the statement"},
		{"f", "a++; a++", "f has no such statement or expression: write"},
		{"f", "a > b {", "f has no such statement"},
		{"f", "l.n = 0", "write what does this now, and what the bug makes of it, into the bug's file; " +
			"this text is in list.f, list.again"},
		{"twice", "a", "p has 2 functions twice, not one: name in the line \"in\""},
		{"g", "a > b", "what the bug is about; this text is in f"},
	} {
		f, at, err := p.locate(&bug{pkg: "p", function: c.function, original: c.original})
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = f.text[at.from:at.to]
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s, %q: %q, want %q", c.function, c.original, got, c.want)
		}
	}
}
