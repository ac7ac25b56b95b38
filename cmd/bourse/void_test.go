package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestVoidTakesNoHealthyCommand tries to void commands that took effect: a revocation,
// which would make the key work again, and a listing. Both are refused, nothing changes,
// and the revocation holds in later starts.
func TestVoidTakesNoHealthyCommand(t *testing.T) {
	s := &server{t: t, data: t.TempDir()}
	s.startAs("serve")
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
	})
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	write(t, file, "assets:\n  - {symbol: AAA, name: First, scale: 8, enabled: true}\n")
	operate[any](s, "catalogue", "apply", file)
	key, id := s.revoked()
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}

	for _, bad := range []struct{ args, says string }{
		{"--void=" + commandOf(t, s.data, "^revoke key="+id), "the engine applies it"},
		{"--void=" + commandOf(t, s.data, "^asset .*AAA"), "Undo what it did with another command"},
		{"--void=" + commandOf(t, s.data, "^genesis"), "the engine applies it"},
		{"--void=1", "--reason"},
		{"--void=99999 --reason=x", "the journal ends at"},
	} {
		args := strings.Fields(bad.args)
		if !strings.Contains(bad.says, "--reason") && !strings.Contains(bad.args, "--reason") {
			args = append(args, "--reason=it was a mistake")
		}
		refusedStart(t, exitFailed, []string{bad.says}, "serve", s.data, args...)
	}
	if _, err := os.Stat(filepath.Join(s.data, "voids")); err == nil {
		t.Error("a refused void was written down")
	}

	s.startAs("serve")
	if a, err := post(http.DefaultClient, s.url, "/spot/open_orders", map[string]any{"api_key": key, "offset": 0}); err != nil || a.Success {
		t.Errorf("the revoked key works: %v %v", a, err)
	}
	s.audit()
}

// revoked makes a key and revokes it.
func (s *server) revoked() (secret, id string) {
	s.t.Helper()
	account := operate[struct{ Account int }](s, "account", "create", "someone@example.org").Account
	made := operate[struct {
		Secret string `json:"api_key"`
		ID     int    `json:"key_id"`
	}](s, "key", "create", fmt.Sprint(account), "--name", "test")
	id = fmt.Sprint(made.ID)
	operate[any](s, "key", "revoke", id)
	return made.Secret, id
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
// mistake. Without the file of voids an anchored exchange does not start.
func TestPoisonedCommand(t *testing.T) {
	anchored := "--anchor=" + t.TempDir()
	s := &server{t: t, data: t.TempDir(), program: poisoned(t), args: []string{anchored}}
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
	refusedStart(t, exitFailed, []string{"the engine applies it"}, "serve", s.data, "--void="+seq, "--reason=x")
	s.args = []string{anchored, "--void=" + seq, "--reason=poison"}
	s.startAs("serve")
	s.showsVoid(seq, "poison")
	operate[any](s, "account", "create", "someone@example.org")
	s.kill()
	s.args = []string{anchored}
	s.startAs("serve")
	s.audit()
	s.kill()
	s.program = ""
	s.startAs("serve")
	operate[any](s, "account", "show", "someone@example.org")
	s.audit()

	// The note has an effect for this program: without its void the state is another one.
	s.kill()
	must(t, os.Remove(filepath.Join(s.data, "voids")))
	refusedStart(t, exitDamaged, []string{"knows 1 voided commands"}, "serve", s.data, anchored)
}

// showsVoid wants each tool that operators look at to show a void.
func (s *server) showsVoid(seq, reason string) {
	s.t.Helper()
	type voids struct {
		Voids []struct {
			Seq          uint64
			Reason, Time string
			UID          int
		}
	}
	for _, shown := range []voids{
		operate[voids](s, "log"), operate[voids](s, "audit"), tool[voids](s.t, "journal", "verify", s.data),
	} {
		if len(shown.Voids) != 1 || fmt.Sprint(shown.Voids[0].Seq) != seq || shown.Voids[0].Reason != reason ||
			shown.Voids[0].UID != os.Getuid() || shown.Voids[0].Time == "" {
			s.t.Errorf("shown is %+v", shown)
		}
	}
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
