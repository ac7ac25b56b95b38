package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestVoid takes a command out of effect: it keeps its place, does nothing, and
// stays so in later starts, audits and replays.
func TestVoid(t *testing.T) {
	s := &server{t: t, data: t.TempDir()}
	s.startAs("serve")
	t.Cleanup(func() { s.kill() })
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	write(t, file, "assets:\n  - {symbol: AAA, name: First, scale: 8, enabled: true}\n  - {symbol: BBB, name: Second, scale: 8, enabled: true}\n")
	operate[any](s, "catalogue", "apply", file)
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	seq := commandOf(t, s.data, "^asset .*BBB")
	for _, bad := range []struct{ args, says string }{
		{"--void=" + seq, "--reason"},
		{"--void=99999 --reason=x", "the journal ends at"},
	} {
		args := append([]string{"serve", "--data", s.data, "--listen", "127.0.0.1:0"}, strings.Fields(bad.args)...)
		if _, stderr, code := run(t, args...); code != exitFailed || !strings.Contains(stderr, bad.says) {
			t.Errorf("%s: exit %d: %s", bad.args, code, stderr)
		}
	}
	s.args = []string{"--void=" + seq, "--reason=it was a mistake"}
	s.startAs("serve")
	s.kill()
	s.args = nil
	s.startAs("serve")
	shown := string(operate[json.RawMessage](s, "catalogue", "show"))
	if !strings.Contains(shown, "AAA") || strings.Contains(shown, "BBB") {
		t.Errorf("listed is %s", shown)
	}
	s.audit()
}

// poisoned builds a program whose engine has an invariant that operators break.
func poisoned(t *testing.T) string {
	t.Helper()
	engine, err := filepath.Abs("../../internal/core/engine/engine.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(engine)
	if err != nil {
		t.Fatal(err)
	}
	const note = "case bourse.CommandNote:\n"
	broken := strings.Replace(string(text), note, note+`if cmd.Text == "clock accept" { bourse.Impossible("the note is poison") }`+"\n", 1)
	if broken == string(text) {
		t.Fatal("the engine has no notes")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "engine.go"), broken)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{engine: filepath.Join(dir, "engine.go")}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	path := filepath.Join(dir, "bourse")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestPoisonedCommand has a command that the engine cannot apply: the process
// stops before it is acknowledged, every start stops at it and names the
// invariant, and voided it does no harm, to this program or to one without the
// mistake.
func TestPoisonedCommand(t *testing.T) {
	s := &server{t: t, data: t.TempDir(), program: poisoned(t)}
	s.startAs("serve")
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
	})
	if stdout, _, code := run(t, "admin", "--data", s.data, "clock", "accept"); code == 0 {
		t.Errorf("it was acknowledged: %s", stdout)
	}
	<-s.logged
	_ = s.cmd.Wait()
	for range 2 {
		if s.launch("serve") || !strings.Contains(s.log.String(), "the note is poison") {
			t.Fatalf("the start says\n%s", s.log)
		}
	}
	seq := commandOf(t, s.data, "clock accept")
	s.args = []string{"--void=" + seq, "--reason=poison"}
	s.startAs("serve")
	operate[any](s, "account", "create", "someone@example.org")
	s.kill()
	s.args = nil
	s.startAs("serve")
	s.audit()
	s.kill()
	s.program = ""
	s.startAs("serve")
	operate[any](s, "account", "show", "someone@example.org")
	s.audit()
}

// commandOf returns the sequence of the last command of a journal that reads as a
// pattern says.
func commandOf(t *testing.T, data, pattern string) (seq string) {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	list := commandsOf(t, data)
	for _, c := range list {
		if wanted.MatchString(c.Command) {
			seq = fmt.Sprint(c.Seq)
		}
	}
	if seq == "" {
		t.Fatalf("no command reads %s:\n%v", pattern, list)
	}
	return seq
}

// dumpedCommand is a line of what `journal dump` prints.
type dumpedCommand struct {
	Seq           uint64
	Time, Command string
}

// commandsOf returns the commands of a journal.
func commandsOf(t *testing.T, data string) (list []dumpedCommand) {
	t.Helper()
	stdout, stderr, code := run(t, "journal", "dump", data)
	if code != 0 {
		t.Fatalf("journal dump: exit %d: %s", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		var c dumpedCommand
		must(t, json.Unmarshal([]byte(line), &c))
		list = append(list, c)
	}
	return list
}
