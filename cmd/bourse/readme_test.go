package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/needs"
)

var readmeProgram = flag.String("readme.program", "", "let TestReadme run this program, not one of its own")

// transcript returns the commands of a console in a text, with what each prints.
func transcript(t *testing.T, file string, number int) (commands, prints []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	blocks := strings.Split(string(text), "```console\n")
	if len(blocks) <= number {
		t.Fatalf("%s has %d consoles", file, len(blocks)-1)
	}
	block, _, _ := strings.Cut(blocks[number], "```")
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands, prints = append(commands, strings.TrimSpace(command)), append(prints, "")
			continue
		}
		prints[len(prints)-1] += line
	}
	return commands, prints
}

// differs are the numbers in answers that no two sandboxes have in common.
var differs = regexp.MustCompile(`"obid":[0-9]+`)

// TestReadme runs README's transcript, from a program to a fill, on a terminal, and
// compares what it prints. What `make run` starts is read from the Makefile.
func TestReadme(t *testing.T) {
	needs.Program(t, "curl")
	path, err := filepath.Abs(*readmeProgram)
	if *readmeProgram == "" {
		path, err = binary()
	}
	must(t, err)
	if first, _ := transcript(t, "../../README.md", 1); len(first) != 2 || first[1] != "make run" {
		t.Fatalf("the first terminal runs %q", first)
	}
	commands, prints := transcript(t, "../../README.md", 2)
	flags := makeRun(t)

	t.Chdir(t.TempDir())
	must(t, os.Mkdir("bin", 0o700))
	must(t, os.Symlink(path, "bin/bourse"))
	began := time.Now()
	s := startOf(t, path, "bourse-dev", flags...)
	got := onTerminal(t, strings.ReplaceAll(strings.Join(commands, separator), "http://127.0.0.1:8080", s.url))
	t.Logf("from the program to a fill: %.1f s", time.Since(began).Seconds())

	shown := strings.Split(got, mark)
	if len(shown) != len(commands) {
		t.Fatalf("%d commands printed\n%s", len(commands), got)
	}
	for i, want := range prints {
		got := differs.ReplaceAllString(strings.TrimSpace(strings.ReplaceAll(shown[i], "\r", "")), "N")
		if want := differs.ReplaceAllString(strings.TrimSpace(want), "N"); got != want {
			t.Errorf("$ %s\nprints\n%s\nREADME says\n%s", commands[i], got, want)
		}
	}
	if last := prints[len(prints)-1]; !strings.Contains(last, `"status":"FILLED"`) {
		t.Errorf("README ends without a fill: %s", last)
	}
}

// makeRun returns the flags that make run gives the program.
func makeRun(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	must(t, err)
	m := regexp.MustCompile(`\$\(BIN\)/bourse dev (.*)\$\(ARGS\)`).FindSubmatch(text)
	if m == nil {
		t.Fatal("make run starts no sandbox")
	}
	return strings.Fields(string(m[1]))
}

// What separates the output of commands.
const (
	mark      = "@@@"
	separator = "\nprintf @@@\n"
)

// onTerminal runs a shell's script on a terminal and returns what that shows.
func onTerminal(t *testing.T, script string) string {
	t.Helper()
	master, slave := pseudoterminal(t)
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdin, cmd.Stdout = slave, slave
	cmd.Env = append(os.Environ(), "TERM=dumb")
	var problems bytes.Buffer
	cmd.Stderr = &problems // curl's progress
	must(t, cmd.Start())
	must(t, slave.Close())
	var out bytes.Buffer
	if _, err := io.Copy(&out, master); err != nil && !errors.Is(err, syscall.EIO) { // the terminal's end
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(fmt.Errorf("%w: %s%s", err, &out, &problems))
	}
	return out.String()
}
