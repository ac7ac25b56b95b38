// Package zoo seeds bugs to show that the tests of the product catch them.
//
// A bug is data: a file in testdata/bugs names a package and a function, a statement or
// expression in it, its replacement, and the test that must then fail with a given
// output. The product's files have no trace of it. All bugs are written into copies of
// the files, each behind a number that is read at the start of a process, and the copies
// are compiled once (go build -overlay). Then each bug runs alone: its test must fail
// within three minutes with that output; an error of compilation or a timeout is no
// catch. Without a bug the same tests must pass.
//
// A bug's place survives changes around it: comments, layout and the function's file do
// not matter. A missing original, or one that the function has twice, is an error, so
// that no bug is lost unnoticed. The quick tests check that, and compare docs/zoo.md with
// the bugs. The tests with the build tag zoo compile and run the bugs; `make zoo` runs
// them.
//
// Read bug_test.go, address_test.go, rewrite_test.go, compile_test.go and catch_test.go.
// The catching tests are in the packages that they test.
package zoo
