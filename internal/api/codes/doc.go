// Package codes is the list of the codes that errors have for clients, in all interfaces:
// one code for each meaning.
//
// It stands at the edge, below package api, which finds the code of an error. [List] is the
// source of docs/errors.md, and a test compares them.
//
// Invariants: a code is in [List]; its meaning never changes once clients know it.
package codes
