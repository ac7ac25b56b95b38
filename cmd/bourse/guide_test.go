package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/describe"
	"github.com/bourse-exchange/bourse/internal/needs"
)

// TestGuide runs every command of the guide against a sandbox as `make run` starts it, in
// a directory with the guide's programs, and compares what they print.
func TestGuide(t *testing.T) {
	chapters, flags := readGuide(t), makeRun(t)
	path, err := binary()
	must(t, err)
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("bin", 0o700))
	must(t, os.Symlink(path, "bin/bourse"))
	files := saveGuide(t, ".", chapters)
	s := startOf(t, path, "bourse-dev", flags...)

	commands := ""
	for _, c := range chapters {
		key := ""
		for i, snippet := range c.Snippets {
			if snippet.Language != "sh" {
				continue
			}
			if key == "" {
				_, key = s.customer("reader-of-" + c.Name)
			}
			commands += snippet.Text
			var want string
			if i+1 < len(c.Snippets) && c.Snippets[i+1].Language == "text" {
				want = c.Snippets[i+1].Text
			}
			t.Run(fmt.Sprintf("%s/%d", c.Name, i), func(t *testing.T) { runSnippet(t, s, key, snippet.Text, want) })
		}
	}
	for _, file := range files {
		module := strings.TrimSuffix(file, filepath.Ext(file))
		if !strings.Contains(commands, file) && module != "bourse" {
			t.Errorf("no command runs %s", file)
		}
	}
}

// readGuide returns the chapters of the guide.
func readGuide(t *testing.T) []describe.Chapter {
	t.Helper()
	chapters, err := describe.Guide()
	must(t, err)
	return chapters
}

// saveGuide writes the guide's programs to a directory and returns their names.
func saveGuide(t *testing.T, dir string, chapters []describe.Chapter) (files []string) {
	t.Helper()
	for _, c := range chapters {
		for _, s := range c.Snippets {
			if s.File != "" {
				must(t, os.WriteFile(filepath.Join(dir, s.File), []byte(s.Text), 0o600))
				files = append(files, s.File)
			}
		}
	}
	if len(files) < 5 {
		t.Fatalf("the guide has the programs %q", files)
	}
	return files
}

// runSnippet runs commands of the guide and compares what they print.
func runSnippet(t *testing.T, s *server, key, script, want string) {
	t.Helper()
	needsOf(t, script)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", strings.ReplaceAll(script, "http://127.0.0.1:8080", s.url))
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "BASE="+s.url, "KEY="+key, "TERM=dumb")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s\n%v: %s%s", script, err, &out, &problems)
	}
	if want != "" && !looksLike(want, out.String()) {
		t.Errorf("%s\nprints\n%s\nthe guide says\n%s", script, &out, want)
	}
}

// needsOf skips a test unless the programs that a script runs are there.
func needsOf(t *testing.T, script string) {
	t.Helper()
	for _, program := range []string{"curl", "python3", "openssl"} {
		if strings.Contains(script, program) {
			needs.Program(t, program)
		}
	}
	if strings.Contains(script, "node ") {
		needs.That(t, "node", exec.Command("node", "--experimental-websocket", "-e", "WebSocket").Run() == nil)
	}
}

// anyNumber matches the numbers in the guide's outputs, which differ from run to run.
var anyNumber = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// looksLike reports whether an output equals the guide's. Numbers may differ, and "…" in the
// guide stands for any text.
func looksLike(shown, got string) bool {
	squeeze := func(text string) string { return strings.Join(strings.Fields(text), "") }
	form := regexp.QuoteMeta(anyNumber.ReplaceAllString(squeeze(shown), "0"))
	form = strings.ReplaceAll(strings.ReplaceAll(form, "0", `-?[0-9]+(\.[0-9]+)?`), "…", ".*")
	return regexp.MustCompile("^" + form + "$").MatchString(squeeze(got))
}

// TestLooksLike wants the comparison of the guide's outputs to see what differs.
func TestLooksLike(t *testing.T) {
	for _, c := range []struct {
		shown, got string
		want       bool
	}{
		{`{"obid":12,"filled":"0.5"}`, `{"obid": 7, "filled": "-0"}`, true},
		{`{"error":"no"…}`, `{"error":"no","code":"NO"}`, true},
		{`{"error":"no"}`, `{"error":"no","code":"NO"}`, false},
		{`{"status":"OPEN"}`, `{"status":"FILLED"}`, false},
		{`equal`, `equal, not`, false},
	} {
		if looksLike(c.shown, c.got) != c.want {
			t.Errorf("%s as %s: want %t", c.got, c.shown, c.want)
		}
	}
}

// TestListForPrograms wants each link of /llms.txt, and of the pages, to answer with the
// text that it names.
func TestListForPrograms(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	kind, list := fetched(t, s.url+"/llms.txt", "*/*")
	if kind != "text/plain; charset=utf-8" || !strings.HasPrefix(list, "# Bourse\n\n> ") {
		t.Errorf("%s\n%s", kind, list)
	}
	links := regexp.MustCompile(`\]\((/[^)]+)\)`).FindAllStringSubmatch(list, -1)
	for _, link := range links {
		if _, body := fetched(t, s.url+link[1], "*/*"); len(body) < 100 {
			t.Errorf("%s: %q", link[1], body)
		}
	}

	for _, c := range readGuide(t) {
		if !strings.Contains(list, "("+"/docs/"+c.Name+".md): "+c.Summary) {
			t.Errorf("the list lacks the chapter %s", c.Name)
		}
		_, page := fetched(t, s.url+"/docs/"+c.Name, "text/html")
		for _, m := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			must(t, linked(s.url+"/docs/"+c.Name, m[1]))
		}
	}
}

// linked opens the target of a link of a page; a part that it names must be there.
func linked(page, link string) error {
	base, err := http.NewRequest(http.MethodGet, page, http.NoBody)
	if err != nil {
		return err
	}
	target, err := base.URL.Parse(link)
	if err != nil {
		return err
	}
	res, err := http.Get(target.String())
	if err != nil {
		return err
	}
	var body bytes.Buffer
	_, err = body.ReadFrom(res.Body)
	switch err := errors.Join(err, res.Body.Close()); {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s links to %s: %s", page, link, res.Status)
	case target.Fragment != "" && !strings.Contains(body.String(), fmt.Sprintf(`id=%q`, target.Fragment)):
		return fmt.Errorf("%s links to %s, which has no such part", page, link)
	}
	return nil
}
