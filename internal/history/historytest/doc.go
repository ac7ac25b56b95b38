// Package historytest is the contract of history stores as a test suite, and a store in
// memory that passes it.
//
// [Run] writes a random past in batches to the store and to a [Memory], which keeps plain
// lists and folds nothing, and compares their answers. A simulator uses the Memory as its
// store. Nothing here speaks SQL or knows the engine: the tests of history check that it
// fits the engine.
package historytest
