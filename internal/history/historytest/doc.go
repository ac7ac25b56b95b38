// Package historytest is what every history store has to pass, and a store in
// memory that passes it.
//
// [Run] is the contract as a suite: it writes a random past in batches to the
// store and to a [Memory], which keeps plain lists and folds nothing, and
// compares what both answer. A simulator uses the Memory as its store. Nothing
// here speaks SQL, and nothing here knows the engine: that history fits what the
// engine does is tested beside history.
package historytest
