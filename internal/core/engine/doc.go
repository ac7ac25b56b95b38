// Package engine decides: commands go in, events come out.
package engine
