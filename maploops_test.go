package bourse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// orderedMaps is the one package of the core that may iterate over a map: it sorts.
const orderedMaps = module + "/internal/core/ordered"

// TestCoreIteratesOverNoMap keeps the order of Go's maps out of the vocabulary and the core:
// two processes that apply the same commands must announce the same events and write the
// same snapshots. Packages that end in "test" prove the core and are not part of it.
func TestCoreIteratesOverNoMap(t *testing.T) {
	compiled := exportedPackages(t, ".", "./internal/core/...")
	checked := 0
	for _, p := range compiled {
		if !strings.HasPrefix(p.ImportPath, module) || strings.HasSuffix(p.ImportPath, "test") ||
			p.ImportPath == orderedMaps {
			continue
		}
		checked++
		for _, loop := range p.mapLoops(t, compiled) {
			t.Errorf("%s: a loop over a map: use internal/core/ordered", loop)
		}
	}
	if checked < 5 {
		t.Errorf("%d packages were checked", checked)
	}
}

// TestMapLoopsAreFound holds the check against loops that it must find, and others.
func TestMapLoopsAreFound(t *testing.T) {
	source := `package p
type index map[string]int
type holder struct{ all index }
type anyMap interface{ ~map[string]int }
func loops[M ~map[string]int](h holder, m M, list []int, pairs func(func(int) bool)) {
	for range h.all {}
	for k := range map[int]bool{} { _ = k }
	for range m {}
	for range list {}
	for range pairs {}
	for range len(h.all) {}
}
func named[M anyMap](m M) { for range m {} }`
	name := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}

	p := exportedPackage{ImportPath: "p", Dir: filepath.Dir(name), GoFiles: []string{"p.go"}}
	want := fmt.Sprint([]string{name + ":6:2", name + ":7:2", name + ":8:2", name + ":13:29"})
	if got := fmt.Sprint(p.mapLoops(t, nil)); got != want {
		t.Errorf("loops over maps at %s, want %s", got, want)
	}
}

// exportedPackage is a package as the compiler left it.
type exportedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// exportedPackages returns packages and all that they import, by import path.
func exportedPackages(t *testing.T, patterns ...string) map[string]exportedPackage {
	t.Helper()
	args := append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles"}, patterns...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}

	list := map[string]exportedPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p exportedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list[p.ImportPath] = p
	}
}

// mapLoops returns the positions of the package's loops over maps.
func (p *exportedPackage) mapLoops(t *testing.T, compiled map[string]exportedPackage) []string {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}

	lookup := func(path string) (io.ReadCloser, error) { return os.Open(compiled[path].Export) }
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := config.Check(p.ImportPath, fset, files, &info); err != nil {
		t.Fatal(err)
	}

	var found []string
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if loop, ok := n.(*ast.RangeStmt); ok && overMap(info.TypeOf(loop.X)) {
				found = append(found, fset.Position(loop.Pos()).String())
			}
			return true
		})
	}
	return found
}

// overMap reports whether a loop over a type may be one over a map.
func overMap(of types.Type) bool {
	switch of := of.Underlying().(type) { // of a type parameter, its constraint
	case *types.Map:
		return true
	case *types.Interface:
		return slices.ContainsFunc(slices.Collect(of.EmbeddedTypes()), overMap)
	case *types.Union:
		return slices.ContainsFunc(slices.Collect(of.Terms()), func(t *types.Term) bool { return overMap(t.Type()) })
	}
	return false
}
