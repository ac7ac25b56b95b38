package zoo

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestBugsCompile type-checks the packages with the bugs in them, so that a renamed
// identifier in a bug fails here and not in TestZoo.
func TestBugsCompile(t *testing.T) {
	p := product{}
	infected, err := p.infect(readBugs(t))
	if err != nil {
		t.Fatal(err)
	}

	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", compiled(t, p))
	for dir, files := range p {
		if err := check(fset, imports, files, infected); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// compiled compiles the imports of the packages, and opens their export data.
func compiled(t *testing.T, p product) func(path string) (io.ReadCloser, error) {
	t.Helper()
	args := []string{"list", "-tags=zoo", "-deps", "-export", "-f={{.ImportPath}} {{.Export}}", "./internal/zoo"}
	for dir := range p {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}

	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// check type-checks a package. Its error names the bug.
func check(fset *token.FileSet, imports types.Importer, files []*source, infected map[string]string) error {
	texts := map[string]string{}
	var parsed []*ast.File
	for _, s := range files {
		text, ok := infected[s.name]
		if !ok {
			text = s.text
		}
		file, err := parser.ParseFile(fset, s.name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		texts[s.name], parsed = text, append(parsed, file)
	}

	var first error
	config := types.Config{Importer: imports, Error: func(err error) {
		bad, ok := err.(types.Error) //nolint:errorlint // as types.Config documents
		if first == nil && ok {
			at := fset.Position(bad.Pos)
			first = fmt.Errorf("bug %s: %s", looseAt(texts[at.Filename][:at.Offset]), bad.Msg)
		}
	}}
	_, err := config.Check(parsed[0].Name.Name, fset, parsed, nil)
	if first != nil {
		return first
	}
	return err
}

var looseCall = regexp.MustCompile(`zoo\.Loose\((\d+)\)`)

// looseAt returns the number of the last bug in a text, or "none".
func looseAt(text string) string {
	all := looseCall.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return "none"
	}
	return all[len(all)-1][1]
}

func TestCheck(t *testing.T) {
	s, err := parseSource("p.go", "package p\n\nfunc f() int {\n\tn := 1\n\treturn n\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	const bad = "package p\n\nfunc f() int {\n\tif zoo.Loose(7) {\n\t\treturn missing\n\t}\n\treturn 1\n}\n\n" +
		"var zoo z\n\ntype z struct{}\n\nfunc (z) Loose(int) bool { return true }\n"
	for text, want := range map[string]string{"": "", bad: "bug 7: undefined: missing"} {
		infected := map[string]string{"p.go": text}
		if text == "" {
			infected = nil
		}
		got := ""
		if err := check(token.NewFileSet(), nil, []*source{s}, infected); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
