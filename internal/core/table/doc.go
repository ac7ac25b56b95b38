// Package table is a sparse array indexed by dense ids: the core's lookup by account
// without a map.
//
// It stands below the other parts of the core. Pages of 64 entries are made when first
// touched and never move, so that pointers into them stay valid, a lookup is two loads,
// and iteration has one order. Entries start as their zero value and are never removed.
//
// Lookups by ids that are not dense use maps, which package ordered iterates over.
package table
