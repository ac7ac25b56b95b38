package needs

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Prefix begins the line of a skipped test; the need follows.
const Prefix = "needs "

// Program skips a test if a program is not in PATH.
func Program(t testing.TB, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	That(t, name, err == nil)
}

// Root skips a test unless it runs as root.
func Root(t testing.TB) {
	t.Helper()
	That(t, "root", os.Geteuid() == 0)
}

// That skips a test unless a need is met.
func That(t testing.TB, name string, there bool) {
	t.Helper()

	// `make test` lists the installed programs in BOURSE_HAS. Reading it makes Go's test
	// cache depend on them: the cache tracks the environment that a test reads, but no
	// file outside the module.
	_ = os.Getenv("BOURSE_HAS") //nolint:forbidigo // for tests alone

	switch {
	case there:
	case slices.Contains(strings.Fields(os.Getenv("BOURSE_REQUIRE")), name): //nolint:forbidigo // for tests alone
		t.Fatalf("%s%s, which BOURSE_REQUIRE says is there", Prefix, name)
	default:
		t.Skip(Prefix + name)
	}
}
