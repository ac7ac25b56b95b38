// Package demo demonstrates an exchange's promises, on an exchange of its own.
//
// [Crash] runs this program a second time as a sandbox in a temporary directory, speaks
// to it as clients and operators do, and reads its journal as an auditor does.
//
// Invariants: it touches nothing outside the directory, and removes it unless a promise
// was broken; it kills only the process that it started.
//
// Read crash.go, then exchange.go and trader.go.
package demo
