package bourse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const module = "github.com/bourse-exchange/bourse"

// layer is one line of layers.txt.
type layer struct {
	imports, testImports []string
}

// TestLayers holds the imports of every package against layers.txt.
func TestLayers(t *testing.T) {
	allowed := readLayers(t)
	for _, p := range listPackages(t) {
		name := relative(p.ImportPath)
		want, ok := allowed[name]
		if !ok {
			t.Errorf("%s is not in layers.txt", name)
			continue
		}
		delete(allowed, name)
		tests := slices.Concat(p.TestImports, p.XTestImports)
		checkImports(t, name, p.Imports, want.imports, true)
		checkImports(t, name+" (tests)", tests, slices.Concat(want.imports, want.testImports, []string{name}), false)
		for _, extra := range want.testImports {
			if !slices.Contains(ours(tests), extra) {
				t.Errorf("layers.txt lets the tests of %s import %s, which they do not", name, extra)
			}
		}
	}
	for name := range allowed {
		t.Errorf("layers.txt lists %s, which does not exist", name)
	}
}

// corePure is what the vocabulary and the core may use of the standard library.
var corePure = []string{
	"bytes", "cmp", "container/heap", "container/list", "crypto/sha256", "encoding/binary", "errors", "fmt", "iter", "math", "math/bits",
	"slices", "strconv", "strings", "time",
}

// TestCoreIsPure keeps clocks, files, goroutines' tools and floats' tools out of
// the core. Only the vocabulary may name package time, to convert.
func TestCoreIsPure(t *testing.T) {
	for _, p := range listPackages(t) {
		name := relative(p.ImportPath)
		core := name == "." || name == "internal/codec" || strings.HasPrefix(name, "internal/core/")
		if !core || strings.HasSuffix(name, "test") {
			continue // what proves the core may use what the core may not
		}
		for _, imp := range p.Imports {
			std := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
			switch {
			case !std && !strings.HasPrefix(imp, module):
				t.Errorf("%s imports %s from outside", name, imp)
			case std && !slices.Contains(corePure, imp), imp == "time" && name != ".":
				t.Errorf("%s imports %s, which is not pure", name, imp)
			}
		}
	}
}

// TestEveryPackageHasADoc wants the package comment of each package in its doc.go, and in
// no other file, where a reader would have to look for it.
func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range listPackages(t) {
		described := false
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil,
				parser.PackageClauseOnly|parser.ParseComments)
			switch {
			case err != nil:
				t.Error(err)
			case file.Doc.Text() == "":
			case name != "doc.go":
				t.Errorf("%s: the package comment is in %s", relative(p.ImportPath), name)
			default:
				described = true
			}
		}
		if !described && len(p.GoFiles) > 0 {
			t.Errorf("%s has no doc.go with a package comment", relative(p.ImportPath))
		}
	}
}

// maxFileLines is CONTRIBUTING's limit of files, tests included.
const maxFileLines = 600

// TestFilesAreShort holds files to the limit, those of other modules too. What is generated
// is as long as it comes out.
func TestFilesAreShort(t *testing.T) {
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	eachGoFile(t, func(name string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > maxFileLines && !generated.Match(text) {
			t.Errorf("%s has %d lines, more than %d: split it by topic", name, n, maxFileLines)
		}
	})
}

// TestLimitsAreAsSaid compares the limits that CONTRIBUTING.md states with those of the
// linters and of TestFilesAreShort.
func TestLimitsAreAsSaid(t *testing.T) {
	var c struct {
		Linters struct {
			Settings struct {
				Funlen   struct{ Lines, Statements int }
				Gocognit struct {
					Complexity int `yaml:"min-complexity"`
				}
				Revive struct {
					Rules []struct {
						Name      string
						Arguments []any
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, ".golangci.yml")), &c); err != nil {
		t.Fatal(err)
	}
	s := &c.Linters.Settings
	parameters := "no limit of"
	for _, rule := range s.Revive.Rules {
		if rule.Name == "argument-limit" {
			parameters = fmt.Sprint(rule.Arguments...)
		}
	}

	text := strings.Join(strings.Fields(read(t, "CONTRIBUTING.md")), " ")
	for _, said := range []string{
		fmt.Sprintf("by habit and %d at most, with at most %d statements,", s.Funlen.Lines, s.Funlen.Statements),
		fmt.Sprintf("a cognitive complexity of %d and %s parameters", s.Gocognit.Complexity, parameters),
		fmt.Sprintf("files have at most %d lines, tests included", maxFileLines),
	} {
		if !strings.Contains(text, said) {
			t.Errorf("CONTRIBUTING.md does not say %q", said)
		}
	}
}

// TestHowToNamesFiles wants the files that CONTRIBUTING.md tells how to touch to exist.
func TestHowToNamesFiles(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## How to add")
	text, _, _ = strings.Cut(text, "\n## ")
	found := 0
	for _, m := range regexp.MustCompile("`([a-z0-9_./]+\\.[a-z]+)`").FindAllStringSubmatch(text, -1) {
		found++
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("CONTRIBUTING.md: %v", err)
		}
	}
	if found < 30 {
		t.Errorf("only %d files were found", found)
	}
}

// eachGoFile visits the Go files of the repository, whichever module they belong to.
func eachGoFile(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err == nil {
			visit(name, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNames keeps names out that say nothing.
func TestNames(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "types", "misc"}
	for _, p := range listPackages(t) {
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles, []string{path.Base(p.ImportPath) + ".go"}) {
			base := strings.TrimSuffix(strings.TrimSuffix(file, ".go"), "_test")
			if slices.Contains(empty, base) {
				t.Errorf("%s: %s says nothing", relative(p.ImportPath), file)
			}
		}
	}
}

type goPackage struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// TestMapIsWhole wants ARCHITECTURE's map to name each package, or one above it, and
// nothing that is not there.
func TestMapIsWhole(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## The map\n")
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{}
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			named[m[1]] = true
		}
	}

	for name := range named {
		if strings.Contains(name, "/") && name != "/" && !strings.Contains(name, "…") {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("the map names %s: %v", name, err)
			}
		}
	}
	for name := range readLayers(t) {
		found := name == "."
		for at := name; at != "."; at = path.Dir(at) {
			found = found || named[at]
		}
		if !found {
			t.Errorf("%s is not on the map", name)
		}
	}
}

// skips are the ways in which a test can skip itself.
var skips = regexp.MustCompile(`\b(t|b|f|tb|d|x)\.Skip(f|Now)?\(`)

// TestNothingSkipsItself keeps tests honest: one that is there runs, unless the machine
// lacks what it needs, which internal/needs says aloud. What is for some cases only
// chooses them beforehand, and what is long has a size.
func TestNothingSkipsItself(t *testing.T) {
	eachGoFile(t, func(name string, text []byte) {
		for n, line := range strings.Split(string(text), "\n") {
			if skips.MatchString(line) && name != "internal/needs/needs.go" {
				t.Errorf("%s:%d: %s", name, n+1, strings.TrimSpace(line))
			}
		}
	})
}

func readLayers(t *testing.T) map[string]layer {
	t.Helper()
	text, err := os.ReadFile("layers.txt")
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string]layer{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		imports, tests, _ := strings.Cut(rest, "+")
		layers[name] = layer{strings.Fields(imports), strings.Fields(tests)}
	}
	return layers
}

func checkImports(t *testing.T, name string, imports, allowed []string, exact bool) {
	t.Helper()
	got := ours(imports)
	for _, imp := range got {
		if !slices.Contains(allowed, imp) {
			t.Errorf("%s imports %s, which layers.txt does not allow", name, imp)
		}
	}
	for _, imp := range allowed {
		if exact && !slices.Contains(got, imp) {
			t.Errorf("layers.txt lets %s import %s, which it does not", name, imp)
		}
	}
}

// ours returns the imports from this module, relative to it.
func ours(imports []string) []string {
	var list []string
	for _, imp := range imports {
		if imp == module || strings.HasPrefix(imp, module+"/") {
			list = append(list, relative(imp))
		}
	}
	return list
}

func relative(importPath string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
	if name == "" {
		return "."
	}
	return name
}
