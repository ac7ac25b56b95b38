package disk

import (
	"errors"
	"io"
	"io/fs"
	"path"
)

// Write creates a file, in place of an existing one, and makes its bytes durable. Its
// name is durable only after the SyncDir of its directory.
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

// Copy writes a copy of a file, as Write does.
func Copy(d Disk, from, to string) error {
	source, err := d.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	size, err := source.Size()
	if err != nil {
		return err
	}
	return Write(d, to, func(f File) error {
		_, err := io.Copy(io.NewOffsetWriter(f, 0), io.NewSectionReader(source, 0, size))
		return err
	})
}

// EditOrCreate opens a file for reading and writing, and creates it durably if it is
// missing.
func EditOrCreate(d Disk, name string) (File, error) {
	f, err := d.Edit(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f, err = d.Create(name); err != nil {
		return nil, err
	}
	if err := d.SyncDir("."); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Replace durably and atomically replaces a file's content, or creates the file: after a
// crash it holds the old bytes or the new ones. tmp is a name in the same directory for
// Replace alone.
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
