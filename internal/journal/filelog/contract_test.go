package filelog_test

import (
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
)

var identity = journal.Identity{Exchange: [16]byte{1, 2, 3}, Sandbox: true}

// harness is a log whose process can be killed, on a disk that a crash replaces.
type harness struct {
	disk  disk.Disk
	crash func(disk.Disk) disk.Disk
	size  int64
}

func (h *harness) Open(t *testing.T) journal.Log {
	l, _, err := filelog.Open(h.disk, journal.Options{Identity: identity, SegmentSize: h.size})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (h *harness) Crash(*testing.T) { h.disk = h.crash(h.disk) }

func (h *harness) Compact(t *testing.T, before bourse.Seq) {
	journaltest.Archive(t, journal.NewFiles(h.disk, identity), before)
}

func TestContract(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		journaltest.Run(t, func(*testing.T) journaltest.Harness {
			return &harness{memdisk.New(1), func(d disk.Disk) disk.Disk { return d.(*memdisk.Disk).Clone() }, 64 << 10}
		})
	})
	t.Run("without power", func(t *testing.T) {
		journaltest.Run(t, func(*testing.T) journaltest.Harness {
			return &harness{memdisk.New(2), func(d disk.Disk) disk.Disk { return d.(*memdisk.Disk).Crash() }, 16 << 10}
		})
	})
	t.Run("real", func(t *testing.T) {
		journaltest.Run(t, func(t *testing.T) journaltest.Harness {
			d := &killable{Disk: openDir(t, t.TempDir())}
			return &harness{d, func(disk.Disk) disk.Disk { return d.kill(t) }, 64 << 10}
		})
	})
}

func openDir(t testing.TB, path string) *disk.Dir {
	t.Helper()
	d, err := disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// killable is a disk whose process can lose its lock without noticing, as when the system
// kills it.
type killable struct {
	disk.Disk
	lock io.Closer
}

func (k *killable) Lock(name string) (io.Closer, error) {
	c, err := k.Disk.Lock(name)
	k.lock = c
	return c, err
}

func (k *killable) kill(t *testing.T) *killable {
	if err := k.lock.Close(); err != nil {
		t.Fatal(err)
	}
	return k
}
