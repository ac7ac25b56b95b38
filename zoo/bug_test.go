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

// dir has a file for each bug, number-name.txt.
const dir = "testdata/bugs"

// root is the top of the tree.
const root = ".."

// A bug is a defect that is let loose on purpose.
type bug struct {
	number int
	// name is that of its data.
	name string
	// title says what goes wrong.
	title string
	// file is what it is in, relative to the top of the tree.
	file string
	// original is the text that becomes buggy. Both are part of one function.
	original, buggy string
	catcher
	// says is a part of what the test then says.
	says string
}

// catcher is a test that must fail.
type catcher struct {
	// dir is its package, test its name, with that of its part behind a slash.
	dir, test string
	// flags are what it is run with.
	flags string
}

// readBugs returns all bugs, in the order in which they are let loose: those of a
// package follow each other, so that few packages are compiled for a few bugs.
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

// parseBug reads the data of a bug: lines of a word and what it is, then the two
// texts.
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
	// The texts are parts of lines or whole ones.
	b.original, b.buggy = strings.TrimSuffix(b.original, "\n"), strings.TrimSuffix(b.buggy, "\n")
	for line := range strings.Lines(head) {
		if err := b.set(strings.TrimSpace(line)); err != nil {
			return b, err
		}
	}
	for _, s := range []string{b.title, b.file, b.original, b.dir, b.test, b.says} {
		if s == "" {
			return b, fmt.Errorf("something is missing: want title, file, caught and says")
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
	case word == "file":
		b.file = value
	case word == "says":
		b.says = value
	case word == "caught":
		b.dir, value, _ = strings.Cut(value, " ")
		b.test, b.flags, _ = strings.Cut(value, " ")
	default:
		return fmt.Errorf("%q is none of title, file, caught and says", word)
	}
	return nil
}

// TestBugs holds the bugs against the product: each can still be written into it
// and still has its test, and each has a number of its own.
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
	for file, of := range byFile(bugs) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Errorf("%s: %v", of[0].name, err)
			continue
		}
		if _, err := rewrite(string(text), of); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// exists reports whether the test is there.
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

// byFile sorts bugs by what they are in.
func byFile(bugs []bug) map[string][]bug {
	files := map[string][]bug{}
	for _, b := range bugs {
		files[b.file] = append(files[b.file], b)
	}
	return files
}
