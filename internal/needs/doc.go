// Package needs skips tests whose needs the machine lacks.
//
// It stands beside the tests. A test names its needs beyond Go; if one is missing, the
// test is skipped with a line that `make test` counts. For a need in BOURSE_REQUIRE the
// test fails instead, as in continuous integration.
//
// Invariant: no other code skips a test.
package needs
