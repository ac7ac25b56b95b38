// Command bourse is a spot exchange with its wallet, in one binary.
//
// It is the outermost room: it reads the command line, the environment and the
// configuration file, and hands everything on. Each command is a struct with a
// Run method, in the file of its area; main.go has the list. What an exchange is
// made of is put together in internal/node.
//
// Answers go to stdout, for programs as one JSON object, for people as YAML; the
// log and everything else go to stderr. The exit code is 0, 1 for a failure, 3
// for damaged data.
package main
