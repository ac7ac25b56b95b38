package outside

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// SmallDisk returns a directory on a tmpfs of a size such as 24m.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	needs.Root(t)
	dir := t.TempDir()

	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("this test mounts a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Ballast fills a disk with a file until leave bytes are free.
func Ballast(t *testing.T, dir, name string, leave uint64) string {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path) //nolint:gosec // in a directory of the test
	if err != nil {
		t.Fatal(err)
	}

	for chunk := make([]byte, 64<<10); ; {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			t.Fatal(err)
		}
		free := s.Bavail * uint64(s.Bsize)
		if free <= leave {
			break
		}

		if _, err := f.Write(chunk[:min(uint64(len(chunk)), free-leave)]); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}

	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
