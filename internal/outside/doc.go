// Package outside runs the program for tests that know only its interfaces.
//
// It stands beside the tests: conformance, hostile and abuse use its process output, its
// client of the operators' socket and its small disk.
//
// Invariant: it imports no package of the program but needs.
package outside
