// Package memlog is a journal in memory that misbehaves.
//
// It is the twin of the logs on files and of those to come that are replicated,
// behind journal.Log, for tests and the simulator: the same contract, and on
// demand everything that a log may do to whoever proposes. It delays, reorders
// and drops proposals; it changes the term, upon which proposals are lost,
// truncated or committed after all; it commits what others proposed; it installs
// snapshots; it fails.
//
// A [Store] stands for the disks: it survives the process. A [Log] is what a
// process opens on it; opening another one is what a crash is, and the one
// before is dead from then on. Misbehaviour is either scripted, by the methods
// in faults.go, or drawn from a seed, by [Chaos].
//
// Invariants: every proposal is answered by exactly one notice, unless the
// process dies before; the same seed and the same calls give the same notices;
// what was yielded must not be kept, and is overwritten to show who does.
//
// Not here: files, and what goes wrong with them; that is filelog over memdisk.
package memlog
