//go:build cross

package main

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// TestArm64 runs the program for arm64 in an emulator: it trades, takes snapshots and
// stops, and the program for this machine finds the same state in its journal and goes on
// with it.
func TestArm64(t *testing.T) {
	const emulator = "qemu-aarch64-static"
	needs.Program(t, emulator)
	program := filepath.Join(t.TempDir(), "bourse")
	if err := buildStatic(program, "GOOS=linux", "GOARCH=arm64"); err != nil {
		t.Fatal(err)
	}
	if f, err := elf.Open(program); err != nil || f.Machine != elf.EM_AARCH64 {
		t.Fatalf("not a program for arm64: %v", err)
	}

	s := &server{t: t, data: t.TempDir(), args: short, under: []string{emulator}, program: program}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
	})
	s.start()
	_, key := s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 300
	c.trade(s.url)
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, s.log)
	}

	s.under, s.program = nil, ""
	s.start()
	c.check(t, s.url)
	s.audit()
}

// described is what a release's program says that it is.
var described = regexp.MustCompile(`^bourse v0\.9\.9 [0-9a-f]{40} 2026-01-02T03:04:05Z go1\.`)

// TestReleaseIsReproducible makes a release in two directories from one commit: every
// byte is the same. The program runs, says what it is and is linked from what its bill of
// materials lists.
func TestReleaseIsReproducible(t *testing.T) {
	source := committed(t)
	first, second := released(t, source), released(t, source)
	sums, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", sums)
	if lines := strings.Count(string(sums), "\n"); lines != 9 {
		t.Errorf("%d files, wanted an archive and two bills of materials for each of three systems", lines)
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, dir := range []string{first, second} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != sum {
				t.Errorf("%s has the SHA-256 %s, wanted %s", filepath.Join(dir, name), got, sum)
			}
		}
	}

	const name = "bourse_v0.9.9_linux_amd64"
	command(t, first, "tar", "-xzf", name+".tar.gz")
	if text := command(t, first, name+"/bourse", "version"); !described.MatchString(text) {
		t.Errorf("version: %s", text)
	}
	listed(t, filepath.Join(first, name+".cdx.json"), command(t, first, "go", "version", "-m", name+"/bourse"))
	listed(t, filepath.Join(first, name+"-signer.cdx.json"), command(t, first, "go", "version", "-m", name+"/bourse-signer"))
}

// listed wants a bill of materials to list what a program is linked from.
func listed(t *testing.T, bill, linked string) {
	t.Helper()
	text, err := os.ReadFile(bill)
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(text, &bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Fatalf("%s is a bill of format %q: %v", bill, bom.BOMFormat, err)
	}
	has := map[string]bool{}
	for _, c := range bom.Components {
		has[c.Name+" "+c.Version] = strings.HasPrefix(c.PURL, "pkg:golang/")
	}
	some := 0
	for line := range strings.Lines(linked) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "dep" {
			some++
			if !has[words[1]+" "+words[2]] {
				t.Errorf("the bill of materials lacks %s %s", words[1], words[2])
			}
		}
	}
	if some == 0 {
		t.Error("the program is linked from nothing")
	}
}

// committed returns a copy of the working tree, in which it is a commit with a tag.
func committed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file := range strings.Lines(command(t, "../..", "git", "ls-files", "--cached", "--others", "--exclude-standard")) {
		file = strings.TrimSpace(file)
		from := filepath.Join("../..", file)
		if info, err := os.Lstat(from); err != nil || info.IsDir() {
			continue // deleted and not committed
		}
		to := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		command(t, ".", "cp", "--preserve=mode", from, to)
	}

	command(t, dir, "git", "init", "--quiet")
	command(t, dir, "git", "add", "--all")
	command(t, dir, "git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "commit", "--quiet", "--message=release")
	command(t, dir, "git", "tag", "v0.9.9")
	return dir
}

// released makes a release in a clone of its own, and returns where it is.
func released(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	command(t, ".", "git", "clone", "--quiet", source, dir)
	command(t, dir, "make", "release")
	return filepath.Join(dir, "bin/release")
}

// command runs a program in a directory, which must succeed, and returns what it prints.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	if strings.Contains(name, "/") {
		cmd.Path = filepath.Join(dir, name)
	}
	cmd.Dir = dir
	const then = "2026-01-02T03:04:05Z"
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+then, "GIT_COMMITTER_DATE="+then, "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
