// Package admin is the operators' interface: a Unix socket in the data directory.
//
// It stands at the edge, beside the public interfaces. Access to the socket allows every
// verb; each one is journaled, before it runs, as a note with the user id of
// the peer process. A verb answers once every endpoint shows its effect. [Call] is the
// client, for the command line.
//
// Invariants: a verb changes money, orders and rights by commands alone; names and e-mail
// addresses stay out of the journal; a refused command changes nothing.
//
// Read server.go first; the other files group the verbs by subject.
package admin
