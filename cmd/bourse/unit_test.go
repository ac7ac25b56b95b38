package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

const unitFile = "../../deploy/bourse.service"

// analyze runs systemd-analyze.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	needs.Program(t, "systemd-analyze")
	out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

var exposure = regexp.MustCompile(`Overall exposure level for bourse\.service: ([0-9.]+)`)

// mostExposure is the score that the unit file stays below, of ten.
const mostExposure = 2.0

// TestUnitIsTight wants the unit file, and that of an exchange that listens on port 443,
// to be ones that systemd reads without a word, and their exposure to be low.
func TestUnitIsTight(t *testing.T) {
	domain := t.TempDir()
	if _, stderr, code := run(t, "init", domain, "--domain", "exchange.example.org"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for name, file := range map[string]string{"as it is": unitFile, "with a domain": filepath.Join(domain, "bourse.service")} {
		t.Run(name, func(t *testing.T) { tight(t, file) })
	}
}

func tight(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	program, err := binary()
	must(t, err)

	// systemd looks for the program where the unit file has it.
	installed := filepath.Join(t.TempDir(), "bourse.service")
	write(t, installed, string(bytes.ReplaceAll(text, []byte("/usr/local/bin/bourse"), []byte(program))))
	if said := analyze(t, "verify", "--man=no", installed); said != "" {
		t.Errorf("systemd-analyze verify: %s", said)
	}

	report := analyze(t, "security", "--offline=true", file)
	found := exposure.FindStringSubmatch(report)
	if found == nil {
		t.Fatalf("no exposure level in\n%s", report)
	}
	level, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("exposure %.1f", level)
	if level >= mostExposure {
		t.Errorf("exposure %.1f, wanted below %.1f:\n%s", level, mostExposure, report)
	}
}

// syscalls are the names in a set of systemd's, and in the sets that it names.
func syscalls(t *testing.T, set string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for line := range strings.Lines(analyze(t, "syscall-filter", set)) {
		name := strings.TrimSpace(line)
		switch {
		case name == "" || name == set || name[0] == '#':
		case name[0] == '@':
			for below := range syscalls(t, name) {
				names[below] = true
			}
		default:
			names[name] = true
		}
	}
	return names
}

// allowed are the system calls that the unit file lets the program make.
func allowed(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}

	// The first SystemCallFilter line allows a set of calls, lines with ~ remove calls from it.
	var names map[string]bool
	for line := range strings.Lines(string(text)) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "SystemCallFilter=")
		if !ok {
			continue
		}
		denied, isDenied := strings.CutPrefix(value, "~")
		if !isDenied {
			if names != nil {
				t.Fatal("more than one list of what is allowed")
			}
			names = syscalls(t, value)
			continue
		}
		for _, set := range strings.Fields(denied) {
			for name := range syscalls(t, set) {
				delete(names, name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("the unit file allows nothing, or anything")
	}
	return names
}

// TestUnitAllowsWhatIsNeeded traces an exchange from its first start to its stop, with
// trades, snapshots, an anchor, metrics and the operators' verbs. Whatever it asks the
// system for, the unit file lets it have.
func TestUnitAllowsWhatIsNeeded(t *testing.T) {
	needs.Program(t, "strace")
	names := allowed(t)
	trace := filepath.Join(t.TempDir(), "trace")
	s := &server{
		t: t, data: filepath.Join(t.TempDir(), "data"),
		args:  append([]string{"--anchor", t.TempDir(), "--metrics-listen", "127.0.0.1:0"}, short...),
		under: []string{"strace", "-D", "-f", "-qq", "-c", "-o", trace},
	}
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
		t.Fatalf("exit %d", code)
	}

	made := madeCalls(t, trace)
	if !made["fdatasync"] || !made["accept4"] || !made["flock"] {
		t.Fatalf("not the trace of an exchange: %v", made)
	}
	if os.Geteuid() == 0 {
		delete(made, "fchown") // SQLite's, for root alone; the unit's user is not
	}
	for name := range made {
		if !names[name] {
			t.Errorf("the unit file forbids %s", name)
		}
	}
}

// madeCalls reads the names in a summary of strace's.
func madeCalls(t *testing.T, trace string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 5 || words[len(words)-1] == "total" {
			continue
		}
		if _, err := strconv.ParseFloat(words[0], 64); err == nil {
			made[words[len(words)-1]] = true
		}
	}
	return made
}
