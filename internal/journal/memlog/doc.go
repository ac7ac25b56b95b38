// Package memlog is a journal in memory that misbehaves.
//
// It is the twin of the logs on files and of future replicated ones, behind journal.Log,
// for tests and the simulator: the same contract, and on demand every fault that the
// contract allows. It delays, reorders and drops proposals; it changes the term, which
// loses, truncates or commits proposals after all; it commits proposals of other
// processes; it installs snapshots; it fails.
//
// A [Store] stands for the disks: it survives the process. A [Log] is opened on it;
// opening another one is a crash, after which the earlier log is dead. Misbehaviour is
// scripted by the methods in faults.go, or drawn from a seed by [Chaos].
//
// Invariants: every proposal is answered by exactly one notice, unless the process
// crashes before; the same seed and the same calls give the same notices; yielded
// commands are overwritten after the next call, to expose callers that keep them.
//
// Not here: files and their faults; that is filelog over memdisk.
package memlog
