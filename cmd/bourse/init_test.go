package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// TestInit writes an operator's files, starts an exchange from them, lists their catalogue
// and asks the doctor.
func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	stdout, stderr, code := run(t, "init", dir)
	if code != 0 || strings.Count(stdout, "wrote ") != 3 {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	config, data := filepath.Join(dir, "bourse.yaml"), filepath.Join(t.TempDir(), "data")
	change(t, config, "data: /var/lib/bourse", "data: "+data)
	unit, err := os.ReadFile(filepath.Join(dir, "bourse.service"))
	must(t, err)
	if !strings.Contains(string(unit), "serve --config "+config) {
		t.Errorf("the unit starts something else:\n%s", unit)
	}
	if _, stderr, code := run(t, "init", dir); code != exitFailed || !strings.Contains(stderr, "exists") {
		t.Errorf("again: exit %d: %s", code, stderr)
	}

	diagnosed(t, config, map[string]string{
		"mail server": "smtp.address", "anchor": "another disk", "certificate": "public-url", "exchange": "no exchange is running", "networks": "none is in the settings", "disk": "",
	})
	s := &server{t: t, data: data, args: []string{"--config", config, "--min-free=0"}}
	t.Cleanup(func() { s.kill() })
	s.startAs("serve")
	diagnosed(t, config, map[string]string{"markets": "none is listed", "exchange": ""})
	operate[any](s, "catalogue", "apply", filepath.Join(dir, "catalogue.yaml"))
	if answer := operate[struct{ Changes []string }](s, "catalogue", "apply", filepath.Join(dir, "catalogue.yaml")); len(answer.Changes) > 0 {
		t.Errorf("applied twice it changes %v", answer.Changes)
	}
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = mail.Close() }()
	change(t, config, "smtp:\n  address: \"\"\n  from: \"\"", "smtp:\n  address: "+mail.Addr().String()+"\n  from: a@example.org")
	diagnosed(t, config, map[string]string{"markets": "", "mail server": "", "networks": "none is in the settings"})
}

// TestInitForADomain wants the domain in the settings, which serve takes.
func TestInitForADomain(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, code := run(t, "init", dir, "--domain", "exchange.example.org"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	c, err := parse(t, "serve", "--config", filepath.Join(dir, "bourse.yaml"))
	if err != nil || c.Serve.PublicURL != "https://exchange.example.org" || c.Serve.Listen != ":443" || c.Serve.TLSDomain != "exchange.example.org" ||
		c.Serve.Passkeys.ID != "exchange.example.org" {
		t.Errorf("%+v %v", c.Serve, err)
	}
	diagnosed(t, filepath.Join(dir, "bourse.yaml"), map[string]string{"certificate": "port 443 of exchange.example.org"})
	unit, err := os.ReadFile(filepath.Join(dir, "bourse.service"))
	must(t, err)
	if strings.Count(string(unit), "=CAP_NET_BIND_SERVICE\n") != 2 || strings.Contains(string(unit), "PrivateUsers") {
		t.Errorf("the unit does not let the exchange listen on port 443:\n%s", unit)
	}
	for _, bad := range []string{"localhost", "127.0.0.1", "a b.org", "-x.org", "http://x.org", "x.org:1"} {
		if _, stderr, code := run(t, "init", filepath.Join(dir, "other"), "--domain="+bad); code != exitFailed || !strings.Contains(stderr, "is no name") {
			t.Errorf("%q: exit %d: %s", bad, code, stderr)
		}
	}
}

// diagnosed asks the doctor, and wants it to say what to do about each; empty is nothing.
func diagnosed(t *testing.T, config string, want map[string]string) {
	t.Helper()
	stdout, stderr, code := run(t, "doctor", "--config", config)
	if code != exitFailed || stderr != "" {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for about, do := range want {
		line := "ok      " + about + "\n"
		if do != "" {
			line = "BLOCKS  " + about + ": "
		}
		_, rest, found := strings.Cut(stdout, line)
		if rest, _, _ = strings.Cut(rest, "\n"); !found || do != "" && !strings.Contains(rest, do) {
			t.Errorf("%s: wanted %q of\n%s", about, do, stdout)
		}
	}
}

// TestDoctorOfTheMachine wants the doctor to notice a disk with less room than four times
// min-free, and a clock that nothing keeps right.
func TestDoctorOfTheMachine(t *testing.T) {
	needs.Program(t, "strace")
	program, err := binary()
	must(t, err)
	dir := t.TempDir()
	if _, stderr, code := run(t, "init", dir); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	config := filepath.Join(dir, "bourse.yaml")
	change(t, config, "data: /var/lib/bourse", "data: "+filepath.Join(dir, "data"))
	kept := "1GiB"
	ask := func(state, minFree string) string {
		change(t, config, "\nmin-free: "+kept, "\nmin-free: "+minFree)
		kept = minFree
		out, err := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=adjtimex",
			"-e", "inject=adjtimex:retval="+state, program, "doctor", "--config", config).Output()
		if _, blocked := errors.AsType[*exec.ExitError](err); !blocked {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}

	for _, c := range []struct{ state, minFree, line string }{
		{"0", "0", "ok      clock\n"},
		{"5", "0", "BLOCKS  clock: it is not kept right; run chrony"}, // TIME_ERROR
		{"0", "0", "ok      disk\n"},
		{"0", "4000000GiB", "MiB left; below min-free orders stop, so have "},
	} {
		if out := ask(c.state, c.minFree); !strings.Contains(out, c.line) {
			t.Errorf("adjtimex %s, min-free %s: it does not say %q:\n%s", c.state, c.minFree, c.line, out)
		}
	}
}

// change replaces what a file must have.
func change(t *testing.T, file, old, is string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	must(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, is, 1)), 0o600))
}
