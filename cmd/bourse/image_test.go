package main

import (
	"debug/elf"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// TestBinaryIsStatic wants a program that needs no library of the machine, from the
// tests' build and from the Makefile's.
func TestBinaryIsStatic(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	needed, err := f.ImportedLibraries()
	if err != nil || len(needed) > 0 {
		t.Errorf("it needs %v: %v", needed, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it needs the machine's loader")
		}
	}

	out, err := exec.Command("make", "-C", "../..", "--dry-run", "build").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "CGO_ENABLED=0 go build ") {
		t.Errorf("make build: %v\n%s", err, out)
	}
}

// instruction is a line of a Containerfile.
type instruction struct {
	verb string
	args []string
}

// containerfile reads the Containerfile, of which each instruction is one line.
func containerfile(t *testing.T) (list []instruction) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		var args []string
		if strings.HasPrefix(rest, "[") {
			if err := json.Unmarshal([]byte(rest), &args); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		} else {
			args = strings.Fields(rest)
		}
		list = append(list, instruction{verb, args})
	}
	return list
}

// TestImage carries out the Containerfile on what `make image` lays out, in a directory
// that is empty otherwise, and runs the image's command there as the image's user. An
// exchange starts, serves, and keeps what it has in /data.
func TestImage(t *testing.T) {
	context, root := layout(t), t.TempDir()
	var user string
	var entry, command []string
	for i, in := range containerfile(t) {
		switch in.verb {
		case "FROM":
			if i != 0 || !slices.Equal(in.args, []string{"scratch"}) {
				t.Errorf("FROM %v", in.args)
			}
		case "COPY":
			copyInto(t, context, root, in.args)
		case "USER":
			user = in.args[0]
		case "ENTRYPOINT":
			entry = in.args
		case "CMD":
			command = in.args
		case "VOLUME", "EXPOSE", "STOPSIGNAL":
		default:
			t.Errorf("an image of a program alone needs no %s", in.verb)
		}
	}
	if user == "" || strings.HasPrefix(user, "0") || strings.Trim(user, "0123456789:") != "" {
		t.Errorf("the image runs as user %q; wanted a number that is not root's", user)
	}
	if !slices.Equal(entry, []string{"/bourse"}) || !slices.Equal(command, []string{"serve", "--data", "/data", "--listen", "0.0.0.0:8080"}) {
		t.Fatalf("the image runs %v %v", entry, command)
	}

	needsNamespaces(t)
	s := &server{t: t, data: "/data", program: entry[0], under: confined(root, user)}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
	})
	s.startAs(command[0])
	if r, err := http.Get(s.url + "/healthz"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("healthz: %v %v", r, err)
	} else if err := r.Body.Close(); err != nil {
		t.Error(err)
	}
	if code, _ := s.stop(); code != 0 {
		t.Errorf("exit %d:\n%s", code, s.log)
	}
	for _, name := range []string{"accounts.db", "history.db", "journal"} {
		if _, err := os.Stat(filepath.Join(root, "data", name)); err != nil {
			t.Error(err)
		}
	}
}

// layout has `make image` lay out the context of an image, with the tests' build.
func layout(t *testing.T) string {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	text, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(filepath.Join(bin, "bourse"), text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("make", "-C", "../..", "--assume-old=build", "image", "BIN="+bin).CombinedOutput(); err != nil {
		t.Fatalf("make image: %v\n%s", err, out)
	}
	return filepath.Join(bin, "image")
}

// copyInto carries out a COPY of one source.
func copyInto(t *testing.T, context, root string, args []string) {
	t.Helper()
	owner, owned := strings.CutPrefix(args[0], "--chown=")
	if owned {
		args = args[1:]
	}
	if len(args) != 2 || strings.HasPrefix(args[0], "-") {
		t.Fatalf("COPY %v", args)
	}

	to := filepath.Join(root, args[1])
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	words := []string{"cp", "-RT", filepath.Join(context, args[0]), to}
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
	if owned && os.Geteuid() == 0 {
		if out, err := exec.Command("chown", "-R", owner, to).CombinedOutput(); err != nil {
			t.Fatalf("chown %s: %v\n%s", owner, err, out)
		}
	}
}

// needsNamespaces skips a test of an ordinary user where the system lets users have no
// namespaces of their own.
func needsNamespaces(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		needs.That(t, "user-namespaces", exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").Run() == nil)
	}
}

// confined returns the command that runs a program as a user who sees a directory alone:
// as somebody else for root, and in a namespace of users for anybody else.
func confined(root, user string) []string {
	if os.Geteuid() == 0 {
		return []string{"chroot", "--userspec=" + user, root}
	}
	return []string{"unshare", "--user", "--map-root-user", "chroot", root}
}
