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

// patience is how long a test may take, with a bug or without: far longer than any
// needs, so that a busy machine is not taken for a bug that nobody notices.
const patience = 3 * time.Minute

// TestZoo lets one bug after the other loose.
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

// choose returns the bugs to let loose.
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

// together joins the catchers that run the same way.
func together(bugs []bug) []catcher {
	var list []catcher
	for _, b := range bugs {
		last := len(list) - 1
		switch {
		case slices.Contains(list, b.catcher):
		case last < 0 || list[last].dir != b.dir || list[last].flags != b.flags || strings.Contains(list[last].test+b.test, "/"):
			list = append(list, b.catcher)
		case !slices.Contains(strings.Split(list[last].test, "|"), b.test):
			list[last].test += "|" + b.test
		}
	}
	return list
}

// zoo is the product with all bugs.
type zoo struct {
	work string
	// replace is the file that says what stands in for which file.
	replace string
	// binaries are the compiled tests of packages.
	binaries map[string]string
}

// overlay writes the copies with the bugs.
func (z *zoo) overlay(t *testing.T, bugs []bug) {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for name, of := range byFile(bugs) {
		file := filepath.Join(top, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		infected, err := rewrite(string(text), of)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		replace[file] = filepath.Join(z.work, strings.ReplaceAll(name, "/", "-"))
		write(t, replace[file], []byte(infected))
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

// compile compiles the tests of a package, once.
func (z *zoo) compile(t *testing.T, dir string) {
	t.Helper()
	if z.binaries[dir] != "" {
		return
	}
	binary := filepath.Join(z.work, strings.ReplaceAll(dir, "/", "-")+".test")
	z.run(t, "test", "-c", "-vet=off", "-o", binary, "./"+dir)
	z.binaries[dir] = binary
}

// compileProgram compiles what the tests that start the program would compile
// while they are timed.
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

// environment is that of a process in which a bug is loose. Tests that build the
// program for themselves build it with the bugs. None may write down what a bug
// makes of it.
func (z *zoo) environment(number int) []string {
	return append(os.Environ(), "REWRITE=", fmt.Sprintf("ZOO_BUG=%d", number), "GOFLAGS=-tags=zoo -ldflags=-s -overlay="+z.replace)
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

// catch lets a bug loose and wants its test to fail because of it.
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

// pass wants tests to pass when no bug is loose.
func (z *zoo) pass(t *testing.T, c catcher) {
	if out, _, err := z.test(c, 0); err != nil {
		t.Errorf("%s fails without a bug: %v\n%s", c.test, err, tail(out))
	}
}

// tail is the end of what a test said.
func tail(out string) string { return out[max(0, len(out)-8000):] }
