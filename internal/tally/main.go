package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/needs"
)

func main() {
	strict := flag.Bool("strict", false, "a skipped test is an error")
	allow := flag.String("allow", "", "what tests may be skipped for, separated by commas")
	flag.Parse()
	t := newTally(os.Stdout, *strict, strings.Split(*allow, ","))
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// event is a line of go test -json; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// tally is the state of the tests read so far.
type tally struct {
	out    io.Writer
	strict bool
	allow  []string
	// said is the output of running tests by package and test.
	said map[string]map[string]*strings.Builder
	// skipped counts skipped tests by their need.
	skipped  map[string]int
	packages int
	failed   bool
}

func newTally(out io.Writer, strict bool, allow []string) *tally {
	return &tally{
		out: out, strict: strict, allow: allow,
		said: map[string]map[string]*strings.Builder{}, skipped: map[string]int{},
	}
}

// read takes all events. It returns an error if a test failed or none ran.
func (t *tally) read(in io.Reader) error {
	d := json.NewDecoder(in)
	for {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading go test -json: %w", err)
		}
		t.take(&e)
	}

	t.close()
	switch {
	case t.packages == 0:
		return errors.New("nothing was tested")
	case t.failed:
		return errors.New("tests failed")
	}
	return nil
}

func (t *tally) take(e *event) {
	switch e.Action {
	case "build-output":
		t.print(e.Output)
	case "output":
		t.output(e)
	case "pass", "skip", "fail":
		t.ended(e)
	}
}

func (t *tally) print(text string) { _, _ = io.WriteString(t.out, text) }

// output keeps a test's output until its end, and prints a package's at once.
func (t *tally) output(e *event) {
	if e.Test == "" {
		if e.Output != "PASS\n" {
			t.print(e.Output)
		}
		return
	}
	tests := t.said[e.Package]
	if tests == nil {
		tests = map[string]*strings.Builder{}
		t.said[e.Package] = tests
	}
	if tests[e.Test] == nil {
		tests[e.Test] = new(strings.Builder)
	}
	_, _ = tests[e.Test].WriteString(e.Output) // never fails
}

// ended takes the end of a test or, without a test, of a package.
func (t *tally) ended(e *event) {
	t.failed = t.failed || e.Action == "fail"
	if e.Test == "" {
		t.packages++
		if e.Action == "fail" { // unfinished tests are the cause
			for _, name := range slices.Sorted(maps.Keys(t.said[e.Package])) {
				t.print(t.said[e.Package][name].String())
			}
		}
		delete(t.said, e.Package)
		return
	}

	said := ""
	if b := t.said[e.Package][e.Test]; b != nil {
		said = b.String()
		delete(t.said[e.Package], e.Test)
	}
	switch e.Action {
	case "fail":
		t.print(said)
	case "skip":
		t.skipped[needed(said)]++
	}
}

// needed returns the need that a skipped test printed.
func needed(said string) string {
	_, what, found := strings.Cut(said, ": "+needs.Prefix)
	if !found {
		return "nothing that it names"
	}
	what, _, _ = strings.Cut(what, "\n")
	return what
}

// close prints the count of skipped tests.
func (t *tally) close() {
	if len(t.skipped) == 0 {
		return
	}
	total := 0
	var list []string
	for _, what := range slices.Sorted(maps.Keys(t.skipped)) {
		n := t.skipped[what]
		total += n
		list = append(list, fmt.Sprintf("%s (%d)", what, n))
		t.failed = t.failed || t.strict && !slices.Contains(t.allow, what)
	}
	t.print(fmt.Sprintf(
		"\n%d tests were skipped; they need %s. `make needs` installs it; root is for `sudo make test`.\n",
		total, strings.Join(list, ", ")))
}
