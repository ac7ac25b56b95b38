// Package standby keeps a verified copy of an exchange on another machine, and makes it the
// exchange when the first machine is gone.
//
// The exchange is the source: it serves the frames of its journal, and copies of its accounts and
// secrets, over HTTP on the node port, to followers that show a certificate of the operators' own
// authority. A follower dials it, checks that each frame continues its copy, and makes it durable
// in a journal of its own. How far the copy may be behind is measured from the follower's side: a
// probe asks for the last durable command, and once the copy has that command, everything that was
// acknowledged before the probe was sent is in it.
//
// Invariants: nothing enters a copy that does not continue it; the source never waits for a
// follower, keeps nothing for it in memory but one frame, and answers one follower's stream at a
// time for each certificate; an accounts copy is installed only when the journal's copy holds
// all commands that the accounts may refer to; a directory is either a standby's or an
// exchange's, by its role file.
//
// Not here: the journal's bytes (package filelog copies frames), the goroutines (package node),
// voting. Read role.go, hello.go, source.go and copy.go.
package standby
