package abuse

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// block is the allocation unit of the disk, in bytes.
const block = 4 << 10

// written returns the bytes on disk of a data directory and the log. Preallocated
// segments of the journal count up to their last write, rounded to blocks.
func (x *exchange) written(t *testing.T) int64 {
	t.Helper()
	total := x.log.Size()
	err := filepath.WalkDir(x.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return skipGone(err)
		}
		if strings.HasSuffix(path, ".seg") || filepath.Base(filepath.Dir(path)) == "journal" {
			used, err := usedOf(path)
			total += used
			return skipGone(err)
		}
		info, err := d.Info()
		if err == nil {
			total += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return skipGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// skipGone ignores the error for a removed file.
func skipGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// usedOf returns the bytes of a file up to the last non-zero one, rounded to blocks.
func usedOf(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}

	buf := make([]byte, 64*block)
	for end := info.Size(); end > 0; {
		from := max(0, end-int64(len(buf)))
		part := buf[:end-from]
		if _, err := f.ReadAt(part, from); err != nil && err != io.EOF {
			return 0, err
		}
		for at := len(part) - 1; at >= 0; at-- {
			if part[at] != 0 {
				return (from + int64(at) + block) / block * block, nil
			}
		}
		end = from
	}
	return 0, nil
}
