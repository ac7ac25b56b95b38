// Package needs says what a test needs of the machine beyond Go.
//
// It stands beside the tests. A test names what it needs; where that is missing the test
// is skipped with a line that `make test` counts. What BOURSE_REQUIRE lists is there:
// without it the test fails, as in continuous integration.
//
// Invariant: nothing else skips a test.
package needs

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Prefix begins the line of a test that was skipped; what it needs follows.
const Prefix = "needs "

// Program skips a test where a program is missing.
func Program(t testing.TB, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	That(t, name, err == nil)
}

// Root skips a test of an ordinary user.
func Root(t testing.TB) {
	t.Helper()
	That(t, "root", os.Geteuid() == 0)
}

// That skips a test unless what it needs is there.
func That(t testing.TB, name string, there bool) {
	t.Helper()
	// `make test` puts into BOURSE_HAS what is installed. Go's cache of results knows the
	// environment that a test reads, and no file outside the module.
	_ = os.Getenv("BOURSE_HAS") //nolint:forbidigo // for tests alone
	switch {
	case there:
	case slices.Contains(strings.Fields(os.Getenv("BOURSE_REQUIRE")), name): //nolint:forbidigo // for tests alone
		t.Fatalf("%s%s, which BOURSE_REQUIRE says is there", Prefix, name)
	default:
		t.Skip(Prefix + name)
	}
}
