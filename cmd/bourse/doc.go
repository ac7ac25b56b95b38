// Command bourse is a spot exchange with its wallet, in one binary.
//
// It is the outermost layer: it reads the command line, the environment and the
// configuration file, and passes them on. Each command is a struct with a Run method, in
// the file of its area; main.go has the list. internal/node assembles an exchange.
//
// Answers go to stdout, as YAML to a terminal and as one JSON object otherwise; the log
// and all other output go to stderr. The exit code is 0 for success, 1 for a failure, 2
// for a wrong command line, 3 for damaged data.
package main
