// Package coding compresses answers for clients whose Accept-Encoding asks for it, with gzip
// or zstd.
//
// It stands below the HTTP interfaces: they decide which answers may be compressed, because
// the length of a compressed answer tells of its content; this package chooses the coding and
// does the work.
//
// Invariants: an Encoder never compresses more bodies at once than it has workers, so that
// its memory is bounded; a Document is compressed at most once for each coding.
//
// Read accept.go, then encoder.go and document.go.
package coding
