package zoo

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// dir has a file for each bug, NUMBER-NAME.txt.
const dir = "testdata/bugs"

// root is the top of the tree.
const root = "../.."

// A bug is a deliberate defect.
type bug struct {
	number int
	// name is the name of its file without the extension.
	name string
	// title describes the defect.
	title string
	// pkg is the directory of the bug's package, function its function.
	pkg, function string
	// original is the statement or expression of the function that buggy replaces.
	original, buggy string
	catcher
	// says is a part of the failing test's output.
	says string
}

// catcher is a test that must fail.
type catcher struct {
	// dir is the package of the test; test is its name, with a subtest after a slash.
	dir, test string
	// flags are the flags of the test.
	flags string
}

// readBugs returns all bugs in the order of their runs: those of a package are adjacent,
// so that few packages are compiled for a few bugs.
func readBugs(t *testing.T) []bug {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no bugs in %s: %v", dir, err)
	}
	var bugs []bug
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := parseBug(filepath.Base(file), string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		bugs = append(bugs, b)
	}
	slices.SortFunc(bugs, func(a, b bug) int {
		return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.flags, b.flags), cmp.Compare(a.number, b.number))
	})
	return bugs
}

// parseBug parses a bug's file: lines of a word and its value, then the two texts.
func parseBug(name, text string) (bug, error) {
	number, _, _ := strings.Cut(name, "-")
	b := bug{name: strings.TrimSuffix(name, ".txt")}
	var err error
	if b.number, err = strconv.Atoi(number); err != nil || b.number < 1 {
		return b, fmt.Errorf("%s does not begin with a number", name)
	}
	head, rest, ok := strings.Cut(text, "-- original --\n")
	if !ok {
		return b, fmt.Errorf("there is no original")
	}
	if b.original, b.buggy, ok = strings.Cut(rest, "-- buggy --\n"); !ok {
		return b, fmt.Errorf("there is nothing buggy")
	}
	b.original, b.buggy = strings.TrimSpace(b.original), strings.TrimSpace(b.buggy)
	for line := range strings.Lines(head) {
		if err := b.set(strings.TrimSpace(line)); err != nil {
			return b, err
		}
	}
	for _, s := range []string{b.title, b.pkg, b.function, b.original, b.dir, b.test, b.says} {
		if s == "" {
			return b, fmt.Errorf("something is missing: want title, in, caught and says")
		}
	}
	return b, nil
}

func (b *bug) set(line string) error {
	word, value, ok := strings.Cut(line, ": ")
	switch {
	case !ok:
		return fmt.Errorf("%q: want a word, a colon and a value", line)
	case word == "title":
		b.title = value
	case word == "in":
		b.pkg, b.function, _ = strings.Cut(value, " ")
	case word == "says":
		b.says = value
	case word == "caught":
		b.dir, value, _ = strings.Cut(value, " ")
		b.test, b.flags, _ = strings.Cut(value, " ")
	default:
		return fmt.Errorf("%q is none of title, in, caught and says", word)
	}
	return nil
}

// TestBugs checks that each bug has an existing test and a unique number. TestBugsCompile
// checks its texts.
func TestBugs(t *testing.T) {
	bugs := readBugs(t)
	numbers := map[int]string{}
	for _, b := range bugs {
		if other, ok := numbers[b.number]; ok {
			t.Errorf("%s and %s have the same number", b.name, other)
		}
		numbers[b.number] = b.name
		if !b.exists(t) {
			t.Errorf("%s: there is no %s in %s", b.name, b.test, b.dir)
		}
	}
}

// exists reports whether the test exists.
func (c *catcher) exists(t *testing.T) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, c.dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	test, _, _ := strings.Cut(c.test, "/")
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+test+"(")
	})
}
