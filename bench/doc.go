// Bench puts Bourse beside its anchors: the reference book that the common
// workload comes from, a trivial net/http handler, a raw loop of WebSocket frames,
// and a loop of fdatasync.
//
// It is a module of its own, so that nothing here reaches the product, and it
// knows the product only as the program `bourse`, whose `bench` commands measure
// the product's side of each line. `make bench` runs both in turn, repeats, and
// prints medians and ratios; docs/performance.md says what the lines mean.
//
// Read main.go first, then run.go and lines.go; workload.go and book.go make the
// workload, anchor.go and disk.go are the anchors; postgres.go starts a server for
// what is measured with one.
package main
