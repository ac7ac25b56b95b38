// Package outside runs the program as tests do that know it from outside alone.
//
// It stands beside the tests: conformance, hostile and abuse take from it what a process
// says, its operators' socket and a small disk.
//
// Invariant: it knows no package of the program.
package outside
