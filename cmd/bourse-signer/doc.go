// Command bourse-signer holds the keys of an exchange's money in a process of its own, or on a
// machine of its own.
//
// The exchange has public keys alone, and asks for each signature over a Unix socket or TLS.
// main.go has the command line; init.go makes a signer, run.go runs it, operate.go is for its
// operators and approvers.
package main
