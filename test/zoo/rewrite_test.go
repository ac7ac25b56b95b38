package zoo

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// infect writes bugs into the product and returns the changed files by name. Each
// function with bugs begins with a changed copy of its body for each bug, which runs
// while that bug is active.
func (p product) infect(bugs []bug) (map[string]string, error) {
	copies := map[*source]map[*ast.FuncDecl]string{}
	var all []error
	for _, b := range bugs {
		f, body, err := p.body(&b)
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", b.name, err))
			continue
		}
		if copies[f.source] == nil {
			copies[f.source] = map[*ast.FuncDecl]string{}
		}
		copies[f.source][f.decl] += body
	}

	files := map[string]string{}
	for s, of := range copies {
		files[s.name] = s.with(of)
	}
	return files, errors.Join(all...)
}

// body returns the function of a bug and the statement that replaces its body while
// the bug is active.
func (p product) body(b *bug) (function, string, error) {
	f, at, err := p.locate(b)
	if err != nil {
		return f, "", err
	}
	begin, end := f.offset(f.decl.Body.Lbrace)+1, f.offset(f.decl.Body.Rbrace)
	body := f.text[begin:at.from] + b.buggy + f.text[at.to:end]
	if f.decl.Type.Results == nil {
		body += "return\n"
	}
	body = fmt.Sprintf("\nif zoo.Loose(%d) {%s}\n", b.number, body)
	_, err = parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+body+"}\n", parser.SkipObjectResolution)
	return f, body, err
}

// with returns the file's text with copies inserted at the beginnings of functions.
func (s *source) with(copies map[*ast.FuncDecl]string) string {
	text := s.text
	// In reverse order, so that the earlier offsets stay valid.
	all := s.functions()
	for i := len(all) - 1; i >= 0; i-- {
		at := s.offset(all[i].decl.Body.Lbrace) + 1
		text = text[:at] + copies[all[i].decl] + text[at:]
	}
	at := s.offset(s.file.Name.End())
	return text[:at] + `; import "github.com/bourse-exchange/bourse/internal/zoo"` + text[at:]
}

func TestInfect(t *testing.T) {
	const text = "package p\n\nfunc f() int {\n\treturn 1\n}\n\nfunc g() {\n\tf()\n}\n"
	for _, c := range []struct {
		bugs []bug
		want string // a part of the file or of the error
	}{
		{[]bug{{number: 7, function: "f", original: "1", buggy: "2"}},
			"int {\nif zoo.Loose(7) {\n\treturn 2\n}\n\n\treturn 1\n}\n\nfunc g() {\n\tf()\n}\n"},
		{[]bug{{number: 8, function: "g", original: "f()"}, {number: 9, function: "g", original: "f()", buggy: "f(); f()"}},
			"func g() {\nif zoo.Loose(8) {\n\t\nreturn\n}\n\nif zoo.Loose(9) {\n\tf(); f()\nreturn\n}\n\n\tf()\n}\n"},
		{[]bug{{number: 7, function: "f", original: "return 1", buggy: "return 2"},
			{number: 8, function: "g", original: "f()"}},
			"{\nif zoo.Loose(7) {\n\treturn 2\n}\n\n\treturn 1\n}\n\n" +
				"func g() {\nif zoo.Loose(8) {\n\t\nreturn\n}\n\n\tf()\n}\n"},
		{[]bug{{function: "f", original: "return 1", buggy: "return ("}}, "expected"},
	} {
		s, err := parseSource("p.go", text)
		if err != nil {
			t.Fatal(err)
		}
		files, err := product{"": {s}}.infect(c.bugs)
		got := files["p.go"]
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v gives %q, want %q", c.bugs, got, c.want)
		}
	}
}
