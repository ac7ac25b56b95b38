// Package demo shows what an exchange promises, on an exchange of its own.
//
// It stands outside: [Crash] runs this program a second time as a sandbox in a
// directory of its own, speaks to it as clients and operators do, and reads its journal
// as an auditor does.
//
// Invariants: nothing outside the directory is touched, and nothing is left of it
// unless a promise was broken; only the process that it started is killed.
//
// Read crash.go, then exchange.go and client.go.
package demo
