package disk

import "os"

// SyncData makes a file's bytes and length durable: Sync has the drive empty its cache
// too, which fsync of this system does not.
func SyncData(f *os.File) error { return f.Sync() }
