package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeRange makes the system write a part of a file to the device, and waits for it.
func writeRange(f *os.File, at, n int64) error {
	const write = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return unix.SyncFileRange(int(f.Fd()), at, n, write)
}
