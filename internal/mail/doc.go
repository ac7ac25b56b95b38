// Package mail carries letters to people: over SMTP, or, in a sandbox, into a box
// in memory that operators look into.
//
// It stands beside the accounts, which say what is written and to whom.
//
// Invariants: when Send returns, the letter is with the server that carries it on, in
// a bounded queue before it, or in the box; no letter gets into a log.
//
// What is not here: the letters' texts (account).
package mail
