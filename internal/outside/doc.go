// Package outside runs the program for tests that know only its interfaces.
//
// It stands beside the tests: conformance, hostile, abuse, client and cmd/bourse use its
// process output, its client of the operators' socket, its small disk and its connections
// that break.
//
// Invariant: it imports no package of the program but needs.
package outside
