// Command tally prints the output of `go test -json` as go test does, and ends with a
// count of skipped tests and their needs.
//
// `make test` runs it. With -strict a skip is an error, unless -allow lists the test's
// need.
package main
