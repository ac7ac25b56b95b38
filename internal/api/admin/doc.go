// Package admin is the operators' interface: a Unix socket in the data directory, however long its path.
//
// It stands at the edge, beside the public interfaces. Who may open the socket
// may do everything; each verb is journaled as a note with the user id of the
// process on the other side, before it is carried out. A verb answers when every
// endpoint shows its effect. [Client] is the other end, for the command line.
//
// Invariants: a verb changes money, orders or rights by command alone; names and
// e-mails of people stay out of the journal; an error changes nothing.
//
// Read server.go first; the verbs are in the file of what they are about.
package admin
