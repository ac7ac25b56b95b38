// Package memdisk is a disk in memory that crashes, tears, forgets and fails.
//
// It is the faulty twin of the operating system's directory behind disk.Disk:
// the same contract when nothing goes wrong, and everything that the contract
// leaves open when something does. Tests and the simulator put it under the
// journal, its snapshots and what else keeps files.
//
// What survives a [Disk.Crash] is drawn sector by sector: of 512 bytes that were
// written and not synced, each sector holds, independently of all others, what
// was there at the last Sync, what was written last, or something written in
// between; so writes tear and change places. The length is the old one, the new
// one or one between. A name made, changed or removed without a SyncDir of its
// directory is there or not; that goes for directories as well, which take what
// is in them along. A rename happens as a whole or not at all. Locks vanish.
//
// After a Sync that failed, what it should have made durable is never made
// durable by a later one, as on systems that drop what they could not write.
//
// Invariants: the same seed and the same operations give the same disk; what was
// synced, under a name that was synced, is there after any crash.
//
// Not here: damage to what is durable, unless a test asks for it by
// [Disk.Damage] or [Disk.FlipRead].
//
// Read memdisk.go, then content.go and crash.go.
package memdisk
