// Package mail delivers letters: over SMTP, or, in a sandbox, into a box in memory that
// its operators and its users on the same machine can read.
//
// Package account decides on the texts and recipients.
//
// Invariants: when Send returns, the letter is with the mail server, in a bounded queue,
// or in the box; no letter appears in a log.
package mail
