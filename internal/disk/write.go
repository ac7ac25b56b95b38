package disk

import (
	"errors"
	"io/fs"
	"path"
)

// Write makes a new file, in place of one of that name, and makes its bytes
// durable; its name is not before the SyncDir of its directory.
func Write(d Disk, name string, fill func(File) error) error {
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Replace gives a file other bytes, or makes it, durably and at once: whatever
// happens, there are the old ones or the new ones. tmp is a name beside it that
// nobody else uses.
func Replace(d Disk, name, tmp string, b []byte) error {
	err := Write(d, tmp, func(f File) error {
		_, err := f.WriteAt(b, 0)
		return err
	})
	if err != nil {
		return err
	}
	if err := d.Rename(tmp, name); err != nil {
		return err
	}
	return d.SyncDir(path.Dir(name))
}
