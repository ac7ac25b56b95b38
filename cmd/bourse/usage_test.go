package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// TestMisuse wants what is wrong with a command line in one line, the way to the help
// in another, and exit code 2.
func TestMisuse(t *testing.T) {
	for args, says := range map[string]string{
		"dev --blok-time=5":            "unknown flag --blok-time",
		"dev --block-time=2h":          "time from 0 to 1h",
		"dev --block-time=NaN":         "time from 0 to 1h",
		"dev --block-time=-1":          "time from 0 to 1h",
		"admin market":                 "expected one of",
		"admin credit":                 "<account>",
		"frobnicate":                   "unexpected argument frobnicate",
		"serve":                        "--data",
		"journal verify /does/not/lie": "/does/not/lie",
		"serve --config /does/not/lie": "/does/not/lie",
		"version --x":                  "unknown flag --x",
	} {
		stdout, stderr, code := run(t, strings.Fields(args)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, says) {
			t.Errorf("bourse %s: exit %d\n%s%s", args, code, stdout, stderr)
		}
		lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		if len(lines) != 2 {
			t.Fatalf("bourse %s: %q", args, lines)
		}
		_, hint, _ := strings.Cut(lines[1], ": ")
		if out, err := exec.Command("sh", "-c", hint).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "Usage: bourse") {
			t.Errorf("bourse %s: the hint %q: %v\n%s", args, hint, err, out)
		}
	}
}

// TestOverview wants the program alone to show six commands, all of which there are.
func TestOverview(t *testing.T) {
	stdout, stderr, code := run(t)
	if code != 0 || stderr != "" || len(first) != 6 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("bourse-dev", 0o700))
	for _, c := range first {
		if !strings.Contains(stdout, c.line+" ") {
			t.Errorf("%q is not shown:\n%s", c.line, stdout)
		}
		_, stderr, code := run(t, append(strings.Fields(c.line), "--help")...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s", c.line, code, stderr)
		}
	}
	if !strings.Contains(stdout, "--help") {
		t.Errorf("nothing says where the rest is:\n%s", stdout)
	}
}

func TestVersion(t *testing.T) {
	word, _, _ := run(t, "version")
	for _, flag := range []string{"--version", "-V"} {
		if stdout, stderr, code := run(t, flag); code != 0 || stdout != word || !strings.HasPrefix(stdout, "bourse ") {
			t.Errorf("%s: exit %d: %s%s; version prints %s", flag, code, stdout, stderr, word)
		}
	}
}

func TestBlockTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5": 5 * time.Second, "5s": 5 * time.Second, "0": 0, "0.2": 200 * time.Millisecond, "250ms": 250 * time.Millisecond, "1h": time.Hour, "3600": time.Hour,
	} {
		c, err := parse(t, "dev", "--block-time="+text)
		if err != nil || time.Duration(c.Dev.Block) != want {
			t.Errorf("%s: %v, %v", text, c.Dev.Block, err)
		}
	}
}

// TestCatalogues wants the main markets alone when they are asked for, and long lists
// otherwise.
func TestCatalogues(t *testing.T) {
	for flag, want := range map[string]int{"--catalogue=demo": 5, "--catalogue=wide": 50, "--log-level=info": 50} {
		s := start(t, t.TempDir(), "--bots=false", "--block-time=0", flag)
		_, body := fetched(t, s.url+"/spot/markets?offset=0", "")
		if got := strings.Count(body, `"pair":`); got != want {
			t.Errorf("%s: %d markets", flag, got)
		}
	}
}

// TestOneDataDirectory wants a sandbox and its operators to meet in the directory that
// both have by default.
func TestOneDataDirectory(t *testing.T) {
	for _, args := range [][]string{{"dev"}, {"admin", "audit"}} {
		c, err := parse(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		at := string(c.Dev.Data)
		if args[0] == "admin" {
			at = c.Admin.Data
		}
		if filepath.Base(at) != "bourse-dev" || filepath.Dir(at) != "." && filepath.Dir(at) != workingDirectory(t) {
			t.Errorf("%v: %s", args, at)
		}
	}
}

func workingDirectory(t *testing.T) string {
	t.Helper()
	at, err := filepath.Abs(".")
	must(t, err)
	return at
}

// TestAgainHidesSecrets wants the command line that errors and the log repeat to be
// without what may be a database's password.
func TestAgainHidesSecrets(t *testing.T) {
	p := &program{self: "bourse", args: []string{
		"serve", "--data=/a=b", "--history", "postgres://u:s3cret@h/d?password=s3cret",
		"--accounts=postgresql://u:s3cret@h/d?sslmode=disable", "postgres://u:s3cret%zz@h/d", "--reason", "a b",
	}}
	want := "bourse serve --data=/a=b --history postgres://h/d --accounts=postgresql://h/d URL --reason 'a b'"
	if got := p.again(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestPaste pastes the lines that a sandbox prints at its start into a shell in another
// directory, and the line that is printed where no exchange runs. The data directory's
// name wants quotes.
func TestPaste(t *testing.T) {
	needs.Program(t, "curl")
	data := filepath.Join(t.TempDir(), "a b's $HOME")
	s := start(t, data, "--bots=false", "--block-time=0", "--admin-listen=127.0.0.1:0")
	where, text, ok := strings.Cut(s.greeting(), "In another terminal:\n")
	if !ok || !strings.Contains(where, "Operators work at http://localhost:") {
		t.Fatal("nothing is to be pasted")
	}
	lines, _, _ := strings.Cut(text, "Stop it with")
	pasted := 0
	for line := range strings.Lines(lines) {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = "/"
		pasted++
		if strings.Contains(line, " watch ") {
			pastedForEver(t, "exec "+line)
			continue
		}
		if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("%s%v\n%s", line, err, out)
		}
	}
	if pasted < 6 {
		t.Errorf("%d lines: %s", pasted, lines)
	}
	if shown := operate[struct{ Balances map[string]any }](s, "balances", "you@example.org"); shown.Balances["USDT"] == nil {
		t.Errorf("no money came: %v", shown)
	}

	s.stop()
	_, stderr, code := run(t, "admin", "--data", data, "balances", "1")
	says, hint, ok := strings.Cut(stderr, "start one with:\n")
	if code != 1 || !ok || !strings.Contains(says, "no exchange runs at "+data) {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	words, err := exec.Command("sh", "-c", "printf '%s\\n' "+hint).Output()
	path, _ := binary()
	if err != nil || string(words) != strings.Join([]string{path, "dev", "--data", data, ""}, "\n") {
		t.Errorf("%s is read as\n%s%v", hint, words, err)
	}
}

// pastedForEver runs a line that goes on until Ctrl-C, up to its first output.
func pastedForEver(t *testing.T, line string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = "/"
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Errorf("%s%v", line, err)
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s%v", line, err)
	}
}

// TestAccountsByName wants every verb that takes an account to take its number and its
// holder's e-mail address, and no address in the journal.
func TestAccountsByName(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	id, _ := s.customer("ada")
	operate[any](s, "catalogue", "apply", "testdata/tiers.yaml")
	for _, who := range []string{"ada@example.org", "ADA@example.org", fmt.Sprint(id)} {
		for _, verb := range []string{
			"account show %", "account freeze %", "account unfreeze %", "account fees %", "account level %", "key create % --name x",
			"account tier % full --reason known",
			"factor reset % --reason lost", "credit % BTC 1", "balances %",
		} {
			stdout, stderr, code := run(t, append([]string{"admin", "--data", s.data}, strings.Fields(strings.ReplaceAll(verb, "%", who))...)...)
			if code != 0 || !strings.Contains(stdout, `"account":`+fmt.Sprint(id)) && !strings.HasPrefix(verb, "key") {
				t.Errorf("%s of %s: exit %d %s%s", verb, who, code, stdout, stderr)
			}
		}
	}
	for who, says := range map[string]string{
		"bea@example.org": "no account has the e-mail address bea@example.org", "ada": "neither a number nor", "-- -1": "neither a number nor", "99999999999": "neither",
	} {
		_, stderr, code := run(t, append([]string{"admin", "--data", s.data, "balances"}, strings.Fields(who)...)...)
		if code != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s", who, code, stderr)
		}
	}
	if out, _, _ := run(t, "journal", "dump", s.data); strings.Contains(out, "example.org") || !strings.Contains(out, "credit ") {
		t.Errorf("the journal: %s", out)
	}
}
