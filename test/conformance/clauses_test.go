package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
)

var clauseForm = regexp.MustCompile(`(?m)^\*\*([A-Z]+(?:-[A-Z]+)?-[0-9]+)\*\* `)

// specified returns the clauses of the specification in order.
func specified(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/spec/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no specification: %v", err)
	}
	var list []string
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range clauseForm.FindAllSubmatch(b, -1) {
			list = append(list, string(m[1]))
		}
	}
	return list
}

// covered maps the functions of this package to the clauses in their calls of covers.
var covered = sync.OnceValues(func() (map[string][]string, error) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		return nil, err
	}
	list := map[string][]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				list[fn.Name.Name] = named(fn)
			}
		}
	}
	return list, nil
})

// named returns the arguments of a function's calls of covers.
func named(fn *ast.FuncDecl) []string {
	var list []string
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "covers" {
			for _, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok {
					clause, _ := strconv.Unquote(lit.Value)
					list = append(list, clause)
				}
			}
		}
		return true
	})
	return list
}

// clausesIn returns the clauses of a check.
func clausesIn(t *testing.T, c check) []string {
	t.Helper()
	all, err := covered()
	if err != nil {
		t.Fatal(err)
	}
	return all[c.name()]
}

// clausesOf returns the clauses of checks.
func clausesOf(t *testing.T, checks []check) []string {
	t.Helper()
	var list []string
	for _, c := range checks {
		list = append(list, clausesIn(t, c)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestEveryClauseIsCovered checks that clause numbers are unique, that each clause has a
// check, and that each check names existing clauses.
func TestEveryClauseIsCovered(t *testing.T) {
	clauses := specified(t)
	seen := map[string]bool{}
	for _, c := range clauses {
		if seen[c] {
			t.Errorf("%s is there twice", c)
		}
		seen[c] = true
	}
	tested := map[string]bool{}
	for _, c := range slices.Concat(allChecks...) {
		names := clausesIn(t, c)
		if len(names) == 0 {
			t.Errorf("%s names no clause", c.name())
		}
		for _, clause := range names {
			tested[clause] = true
			if !seen[clause] {
				t.Errorf("%s names %s, which does not exist", c.name(), clause)
			}
		}
	}
	for _, c := range clauses {
		if !tested[c] {
			t.Errorf("%s has no check", c)
		}
	}
}
