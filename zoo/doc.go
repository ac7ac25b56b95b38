// Package zoo keeps bugs, to show that the tests of the product catch them.
//
// A bug is data: a file in testdata/bugs says which text of which file becomes
// which other text, and which test must then fail, saying what. No file of the
// product knows of it. All bugs are written into copies of the files, behind a
// number that is read when a process starts, and everything is compiled once with
// these copies in place of the files (go build -overlay). Then each bug is let
// loose alone: its test must fail within twenty seconds and say what the bug
// makes it say, so that what does not compile or hangs is no catch. With no bug
// loose, the same tests must pass.
//
// The quick tests hold the bugs against the product: each text is there exactly
// once, so that no bug is lost unnoticed when the product changes, and
// docs/zoo.md lists them. What compiles and runs them is behind the build tag
// zoo, and `make zoo` runs it.
//
// Read bug_test.go, rewrite_test.go and catch_test.go. Not here: tests that catch
// anything. A bug that gets away shows what a test in its own room must see.
package zoo
