package disk

import "os"

// SyncData makes a file's bytes and length durable. Sync uses F_FULLFSYNC here, which
// empties the drive's cache; fsync does not.
func SyncData(f *os.File) error { return f.Sync() }
