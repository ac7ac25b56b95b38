package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncData makes a file's bytes and length durable, without access times.
func SyncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
