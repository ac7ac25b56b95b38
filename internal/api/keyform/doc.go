// Package keyform reads and writes the terms of API keys, which have the same names in both
// versions of the account interface.
//
// It stands at the edge, on api; package account has the rules. accountv1 and accountv2
// use it.
package keyform
