// Package pinned makes connections between two programs of one operator: TLS in which each side knows
// the other by its key.
//
// A pin names a key. It is no secret, so that it is compared as text.
package pinned
