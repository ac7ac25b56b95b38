// Package web serves the exchange's pages: the files that `make web` builds of the sources in
// the folder web at the root.
//
// It stands at the edge, in front of the interfaces. There are two sites: the pages of customers,
// and the console of operators, which another listener serves. The build is committed in dist and
// embedded, so that the program is built without Node. dist/SOURCES has the hashes of the
// sources; a test compares them.
//
// Invariants: a name in a folder of assets stands for the same bytes for ever; an address of a page
// is answered with a page only to a client that asks for HTML; no site serves the document or a
// script of the other.
//
// Not here: what pages ask for with their cookie (api/browser).
package web
