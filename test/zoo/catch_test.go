//go:build zoo

package zoo

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	partFlag = flag.String("part", "1/1", "N/M: let the Nth of M parts of the bugs loose")
	onlyFlag = flag.String("only", "", "let only the bugs with these numbers loose, such as 3,17")
)

// patience is the timeout of a test, with a bug or without: far more than any test needs,
// so that a busy machine does not look like a caught bug.
const patience = 3 * time.Minute

// TestZoo activates one bug after another.
func TestZoo(t *testing.T) {
	bugs := readBugs(t)
	chosen := choose(t, bugs)
	z := &zoo{work: t.TempDir(), binaries: map[string]string{}}
	z.overlay(t, bugs)
	for _, b := range chosen {
		z.compile(t, b.dir)
	}
	if slices.ContainsFunc(chosen, func(b bug) bool { return !strings.HasPrefix(b.dir, "internal/") }) {
		z.compileProgram(t)
	}
	seconds := map[int]time.Duration{}
	for _, b := range chosen {
		t.Run(b.name, func(t *testing.T) { seconds[b.number] = z.catch(t, &b) })
	}
	for _, c := range together(chosen) {
		t.Run("none/"+strings.ReplaceAll(c.dir, "/", "."), func(t *testing.T) { z.pass(t, c) })
	}
	if !t.Failed() {
		writeTable(t, bugs, seconds)
	}
}

// choose returns the bugs to run.
func choose(t *testing.T, bugs []bug) []bug {
	t.Helper()
	var part, parts int
	if _, err := fmt.Sscanf(*partFlag, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
		t.Fatalf("-part %s: want N/M", *partFlag)
	}
	bugs = bugs[len(bugs)*(part-1)/parts : len(bugs)*part/parts]
	if *onlyFlag == "" {
		return bugs
	}
	numbers := strings.Split(*onlyFlag, ",")
	return slices.DeleteFunc(slices.Clone(bugs), func(b bug) bool {
		return !slices.Contains(numbers, fmt.Sprint(b.number))
	})
}

// together merges the catchers with the same flags.
func together(bugs []bug) []catcher {
	var list []catcher
	for _, b := range bugs {
		last := len(list) - 1
		switch {
		case slices.Contains(list, b.catcher):
		case last < 0 || list[last].dir != b.dir || list[last].flags != b.flags ||
			strings.Contains(list[last].test+b.test, "/"):
			list = append(list, b.catcher)
		case !slices.Contains(strings.Split(list[last].test, "|"), b.test):
			list[last].test += "|" + b.test
		}
	}
	return list
}

// zoo is the product with all bugs compiled in.
type zoo struct {
	work string
	// replace is the overlay file of go build.
	replace string
	// binaries are the compiled tests by package.
	binaries map[string]string
}

// overlay writes the copies of files with the bugs.
func (z *zoo) overlay(t *testing.T, bugs []bug) {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := product{}.infect(bugs)
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for name, text := range files {
		file := filepath.Join(top, name)
		replace[file] = filepath.Join(z.work, strings.ReplaceAll(name, "/", "-"))
		write(t, replace[file], []byte(text))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	z.replace = filepath.Join(z.work, "overlay.json")
	write(t, z.replace, text)
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// compile compiles the tests of a package once.
func (z *zoo) compile(t *testing.T, dir string) {
	t.Helper()
	if z.binaries[dir] != "" {
		return
	}
	binary := filepath.Join(z.work, strings.ReplaceAll(dir, "/", "-")+".test")
	z.run(t, "test", "-c", "-vet=off", "-o", binary, "./"+dir)
	z.binaries[dir] = binary
}

// compileProgram compiles the program in advance, because the tests that start it are
// timed.
func (z *zoo) compileProgram(t *testing.T) {
	t.Helper()
	z.run(t, "build", "-o", filepath.Join(z.work, "bourse"), "./cmd/bourse")
}

// run runs the go command.
func (z *zoo) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, z.environment(0)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// environment returns the environment of a process with an active bug. Tests that build
// the program build it with the bugs, and none may rewrite golden files.
func (z *zoo) environment(number int) []string {
	return append(os.Environ(), "REWRITE=", fmt.Sprintf("ZOO_BUG=%d", number),
		"GOFLAGS=-tags=zoo -ldflags=-s -overlay="+z.replace)
}

// test runs tests of a package.
func (z *zoo) test(c catcher, number int) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	test, part, _ := strings.Cut(c.test, "/")
	pattern := "^(" + test + ")$"
	if part != "" {
		pattern += "/^" + part + "$"
	}
	args := append([]string{"-test.run=" + pattern, "-test.count=1"}, strings.Fields(c.flags)...)
	cmd := exec.CommandContext(ctx, z.binaries[c.dir], args...)
	cmd.Dir, cmd.Env = filepath.Join(root, c.dir), z.environment(number)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done in %v", patience)
	}
	return out.String(), time.Since(began), err
}

// catch runs a bug's test, which must fail because of the bug.
func (z *zoo) catch(t *testing.T, b *bug) time.Duration {
	out, took, err := z.test(b.catcher, b.number)
	test, _, _ := strings.Cut(b.test, "/")
	switch {
	case err == nil:
		t.Errorf("%s: %s of %s did not notice", b.title, b.test, b.dir)
	case took > patience:
		t.Errorf("%s: %s: %v:\n%s", b.title, b.test, err, tail(out))
	case !strings.Contains(out, "--- FAIL: "+test) || !strings.Contains(out, b.says):
		t.Errorf("%s: %s did not say %q:\n%s", b.title, b.test, b.says, tail(out))
	}
	return took
}

// pass runs tests without a bug; they must pass.
func (z *zoo) pass(t *testing.T, c catcher) {
	if out, _, err := z.test(c, 0); err != nil {
		t.Errorf("%s fails without a bug: %v\n%s", c.test, err, tail(out))
	}
}

// tail returns the end of a test's output.
func tail(out string) string { return out[max(0, len(out)-8000):] }
