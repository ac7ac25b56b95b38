package main

import (
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

const (
	unitFile       = "../../deploy/bourse.service"
	signerUnitFile = "../../deploy/bourse-signer.service"
)

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

var exposure = regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`)

// mostExposure is the score that the unit files stay below, of ten.
const mostExposure = 2.0

// TestUnitIsTight wants the unit files, and that of an exchange that listens on port 443,
// to be ones that systemd reads without a word, and their exposure to be low.
func TestUnitIsTight(t *testing.T) {
	domain := t.TempDir()
	if _, stderr, code := run(t, "init", domain, "--domain", "exchange.example.org"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	exchange, err := binary()
	must(t, err)
	signer, err := signerBinary()
	must(t, err)
	for name, unit := range map[string]struct{ file, program string }{
		"as it is":      {unitFile, exchange},
		"with a domain": {filepath.Join(domain, "bourse.service"), exchange},
		"signer":        {signerUnitFile, signer},
	} {
		t.Run(name, func(t *testing.T) { tight(t, unit.file, unit.program) })
	}
}

// tight checks the unit file of a program.
func tight(t *testing.T, file, program string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)

	// systemd looks for the program where the unit file has it.
	installed := filepath.Join(t.TempDir(), filepath.Base(file))
	write(t, installed, strings.Replace(string(text), "/usr/local/bin/"+filepath.Base(program), program, 1))
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

// allowed are the system calls that a unit file lets its program make.
func allowed(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(file)
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
// system for, its unit file lets it have.
func TestUnitAllowsWhatIsNeeded(t *testing.T) {
	needs.Program(t, "strace")
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
	permitted(t, unitFile, made)
}

// TestUnitAllowsSigner traces a signer that makes a payment, from its first start to its stop.
func TestUnitAllowsSigner(t *testing.T) {
	needs.Program(t, "strace")
	trace := filepath.Join(t.TempDir(), "trace")
	k := newKeeper(t, ample)
	k.under = []string{"strace", "-D", "-f", "-qq", "-c", "-o", trace}
	k.start()
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--signer-socket", k.socket())
	h := s.holder("someone", map[string]string{"BTC": "100"})
	_, err := h.withdraw(http.DefaultClient, routes[0], s.address("BTC"))
	must(t, err)
	h.settle()
	k.stop()

	made := madeCalls(t, trace)
	if !made["fdatasync"] || !made["accept4"] || !made["flock"] {
		t.Fatalf("not the trace of a signer: %v", made)
	}
	permitted(t, signerUnitFile, made)
}

// permitted checks that a unit file allows what was called.
func permitted(t *testing.T, file string, made map[string]bool) {
	t.Helper()
	names := allowed(t, file)
	for name := range made {
		if !names[name] {
			t.Errorf("%s forbids %s", filepath.Base(file), name)
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
