// Package catalogue is what an exchange lists, as a document that people write.
//
// It stands between operators and the line: [Parse] reads a document, [Of] writes
// down what is listed, and [Diff] says which commands lead from one to the other,
// so that a change can be read before it is made.
//
// Invariants: what a document does not mention is left alone; nothing is ever
// taken off the list by leaving it out; what never changes (scales, precisions)
// is refused here as by the engine; the document of what is listed has no
// difference to it.
package catalogue
