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

// rewrite writes bugs into a file: each function that has some begins with a copy
// of its body for each, which runs when that bug is loose.
func rewrite(text string, bugs []bug) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	// The copies go in from the back, so that places in front of them stay.
	copies := map[*ast.FuncDecl]string{}
	var all []error
	for _, b := range bugs {
		f, body, err := infect(fset, file, text, b)
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", b.name, err))
			continue
		}
		copies[f] += body
	}
	for i := len(file.Decls) - 1; i >= 0; i-- {
		if f, ok := file.Decls[i].(*ast.FuncDecl); ok && f.Body != nil {
			at := fset.Position(f.Body.Lbrace).Offset + 1
			text = text[:at] + copies[f] + text[at:]
		}
	}
	at := fset.Position(file.Name.End()).Offset
	text = text[:at] + `; import "github.com/bourse-exchange/bourse/internal/zoo"` + text[at:]
	return text, errors.Join(all...)
}

// infect returns the function that a bug is in and what has to run in place of
// its body.
func infect(fset *token.FileSet, file *ast.File, text string, b bug) (*ast.FuncDecl, string, error) {
	if n := strings.Count(text, b.original); n != 1 {
		return nil, "", fmt.Errorf("%d times in the file, not once:\n%s", n, b.original)
	}
	from := strings.Index(text, b.original)
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := fset.Position(f.Body.Lbrace).Offset+1, fset.Position(f.Body.Rbrace).Offset
		if from < begin || from+len(b.original) > end {
			continue
		}
		body := text[begin:from] + b.buggy + text[from+len(b.original):end]
		if f.Type.Results == nil {
			body += "return\n"
		}
		body = fmt.Sprintf("\nif zoo.Loose(%d) {%s}\n", b.number, body)
		_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+body+"}\n", parser.SkipObjectResolution)
		return f, body, err
	}
	return nil, "", errors.New("in no function")
}

func TestRewrite(t *testing.T) {
	const text = "package p\n\nvar v = 5\n\nfunc f() int {\n\treturn 1\n}\n\nfunc g() {\n\tf()\n}\n"
	for _, c := range []struct {
		bugs []bug
		want string // a part of what comes out, or of the error
	}{
		{[]bug{{number: 7, original: "return 1", buggy: "return 2"}},
			"int {\nif zoo.Loose(7) {\n\treturn 2\n}\n\n\treturn 1\n}\n\nfunc g() {\n\tf()\n}\n"},
		{[]bug{{number: 8, original: "\tf()\n", buggy: ""}, {number: 9, original: "f()\n", buggy: "f(); f()\n"}},
			"func g() {\nif zoo.Loose(8) {\nreturn\n}\n\nif zoo.Loose(9) {\n\tf(); f()\nreturn\n}\n\n\tf()\n}\n"},
		{[]bug{{number: 7, original: "return 1", buggy: "return 2"}, {number: 8, original: "\tf()\n", buggy: ""}},
			"{\nif zoo.Loose(7) {\n\treturn 2\n}\n\n\treturn 1\n}\n\nfunc g() {\nif zoo.Loose(8) {\nreturn\n}\n\n\tf()\n}\n"},
		{[]bug{{original: "5", buggy: "6"}}, "in no function"},
		{[]bug{{original: "return 3", buggy: "return 2"}}, "0 times"},
		{[]bug{{original: "f()", buggy: "g()"}}, "2 times"},
		{[]bug{{original: "return 1\n}\n\nfunc g() {", buggy: ""}}, "in no function"},
		{[]bug{{original: "return 1", buggy: "return ("}}, "expected"},
	} {
		got, err := rewrite(text, c.bugs)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v gives %q, want %q", c.bugs, got, c.want)
		}
	}
}
