package disk

import (
	"io/fs"
	"syscall"
)

// SameDevice reports whether two files are on one device.
func SameDevice(a, b fs.FileInfo) bool {
	one, ok := a.Sys().(*syscall.Stat_t)
	other, also := b.Sys().(*syscall.Stat_t)
	return ok && also && one.Dev == other.Dev
}
