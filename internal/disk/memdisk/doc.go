// Package memdisk is a disk in memory that crashes, tears, forgets and fails.
//
// It is the faulty twin of the operating system's directory behind disk.Disk: the same
// contract without faults, and every outcome that the contract leaves open with them.
// Tests and the simulator put it under the journal, its snapshots and other files.
//
// A [Disk.Crash] draws each sector of 512 bytes that was written and not synced
// independently: it holds its content at the last Sync, the content written last, or one
// written in between, so writes tear and reorder. The length is the old one, the new one
// or one between. A name created, changed or removed without a SyncDir of its directory
// is there or not; a missing directory takes its content along. A rename is atomic. Locks
// vanish.
//
// A Sync never makes durable the sectors that an earlier failed Sync covered, as on systems
// that drop dirty pages after an error, unless they are written again.
//
// Invariants: the same seed and the same operations give the same disk; synced bytes
// under a synced name survive every crash.
//
// Not here: damage to durable bytes, unless a test asks for it by [Disk.Damage] or
// [Disk.FlipRead].
//
// Read memdisk.go, then content.go and crash.go.
package memdisk
