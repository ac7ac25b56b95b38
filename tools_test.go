package bourse_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exitSkipped is the exit code of tools/vuln when nothing was checked.
const exitSkipped = 75

// TestVulnTellsFindingsFromSilence runs tools/vuln against databases of our own and
// against none: a finding fails, and so does a broken check, and only a database that
// cannot be reached has the exit code that CI goes on with.
func TestVulnTellsFindingsFromSilence(t *testing.T) {
	const scanned = "./internal/wire"
	hit, miss := vulnDatabase(t, "strconv", "AppendInt"), vulnDatabase(t, "strconv", "NoSuchFunction")
	for _, c := range []struct {
		name  string
		proxy string
		args  []string
		code  int
		says  string
	}{
		{"clean", "", []string{"-db", miss, scanned}, 0, "No vulnerabilities found"},
		{"found", "", []string{"-db", hit, scanned}, 3, "strconv.AppendInt"},
		{"unreachable", "http://127.0.0.1:1", []string{scanned}, exitSkipped, "SKIPPED"},
		{"broken", "", []string{"-db", "file:///nowhere", scanned}, 1, "nowhere"},
		{"misused", "", []string{"-db", miss, "./nowhere"}, 1, "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("tools/vuln", c.args...)
			cmd.Env = append(os.Environ(), "HTTPS_PROXY="+c.proxy, "NO_PROXY=")
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("exit %d, wanted %d and %q in\n%s", code, c.code, c.says, out)
			}
		})
	}
}

// vulnDatabase makes a database with a vulnerability of a symbol of the standard
// library, and returns its URL.
func vulnDatabase(t *testing.T, path, symbol string) string {
	t.Helper()
	const (
		id   = "GO-2026-0001"
		then = `"modified":"2026-01-01T00:00:00Z"`
	)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index/db.json":      "{" + then + "}",
		"index/modules.json": `[{"path":"stdlib","vulns":[{"id":"` + id + `",` + then + `}]}]`,
		"index/vulns.json":   `[{"id":"` + id + `",` + then + `}]`,
		"ID/" + id + ".json": `{"schema_version":"1.3.1","id":"` + id + `",` + then + `,"affected":[{
			"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"` + path + `","symbols":["` + symbol + `"]}]}}],"database_specific":{"url":"https://pkg.go.dev/vuln/` + id + `"}}`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + dir
}
