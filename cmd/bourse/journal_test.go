package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// forgetful is a disk on which a file is removed once the names beside it were listed,
// as an exchange that runs removes an old snapshot.
type forgetful struct {
	disk.Disk
	file string
}

func (d *forgetful) List(dir string) ([]string, error) {
	names, err := d.Disk.List(dir)
	if dir != filepath.Dir(d.file) {
		return names, err
	}
	if removeErr := d.Remove(d.file); removeErr != nil && !errors.Is(removeErr, os.ErrNotExist) {
		return nil, removeErr
	}
	return names, err
}

// TestSnapshotRemovedMeanwhile reads a journal from which a snapshot goes after it was
// listed: what is left is verified and replayed.
func TestSnapshotRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0", "--snapshot-every=50")
	s.snapshotAt(t, "50")
	s.stop()
	for name, read := range map[string]func(*audit.Exchange) (int, error){
		"verify": func(x *audit.Exchange) (int, error) {
			v, err := x.Verify(nil)
			if err != nil {
				return 0, err
			}
			return len(v.Snapshots), nil
		},
		"replay": func(x *audit.Exchange) (int, error) {
			r, err := x.States(audit.Everything, time.Now)
			if err != nil {
				return 0, err
			}
			return len(r.Snapshots), nil
		},
	} {
		data := copied(t, s.data)
		x, err := audit.Open(data)
		must(t, err)
		list, err := x.Snapshots.List()
		must(t, err)
		files, err := filepath.Glob(filepath.Join(data, "snapshots", "*.snap"))
		must(t, err)
		d, err := disk.OpenExisting(data)
		must(t, err)
		x.Snapshots = journal.NewSnapshots(&forgetful{d, filepath.Join("snapshots", filepath.Base(files[0]))}, x.Identity)
		if n, err := read(x); err != nil || n != len(list)-1 {
			t.Errorf("%s: %d of %d snapshots, %v", name, n, len(list), err)
		}
		must(t, errors.Join(x.Close(), d.Close()))
	}
}
