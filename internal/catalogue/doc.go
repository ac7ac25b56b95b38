// Package catalogue reads and writes the exchange's catalogue as a YAML document for
// operators.
//
// It stands between operators and the admin interface: [Parse] reads a document, [Of]
// writes the current catalogue, and [Document.Next] returns the commands that lead from
// one to the other, so that an operator reviews a change before it is made.
//
// Invariants: an entry missing from a document is left alone, never delisted; a change of
// a fixed field (scales, precisions) is refused here as by the engine; the document of
// the current catalogue has no difference to it.
package catalogue
