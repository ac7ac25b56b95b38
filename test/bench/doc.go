// Bench compares Bourse with its anchors: the reference book of the common workload, a
// trivial net/http handler, a raw loop of WebSocket frames, and a loop of fdatasync.
//
// It imports nothing of the product: it runs the program `bourse`, whose `bench` commands
// measure the product's side of each line. `make bench` runs both in turn, repeats, and prints medians and
// ratios; docs/performance.md explains the lines.
//
// Read main.go first, then run.go and lines.go. workload.go and book.go make the
// workload, anchor.go and disk.go are the anchors, and postgres.go starts a PostgreSQL
// server.
package main
