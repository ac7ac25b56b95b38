package segments

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

var zeros [chunk]byte

// MakeDir makes a directory of the journal and its name durable.
func MakeDir(d disk.Disk, dir string) error {
	if err := d.MkdirAll(dir); err != nil {
		return err
	}
	return d.SyncDir(".")
}

// Keep makes a durable copy of the torn bytes of a segment's file, and returns its name.
func Keep(d disk.Disk, file disk.File, torn *journal.Torn) (string, error) {
	if err := MakeDir(d, journal.TornDir); err != nil {
		return "", err
	}
	copied, name, err := create(d, torn)
	if err != nil {
		return "", err
	}
	from := io.NewSectionReader(file, torn.From, torn.To-torn.From)
	_, err = io.Copy(io.NewOffsetWriter(copied, 0), from)
	if err == nil {
		err = copied.Sync()
	}
	if err := errors.Join(err, copied.Close()); err != nil {
		return "", errors.Join(err, d.Remove(name)) // or retries would pile up copies
	}
	return name, d.SyncDir(journal.TornDir)
}

// create creates a file named after a command, numbered if an earlier cut left one.
func create(d disk.Disk, torn *journal.Torn) (disk.File, string, error) {
	base := fmt.Sprintf("%s/%020d", journal.TornDir, uint64(torn.Seq))
	name := base
	for n := 2; ; n++ {
		file, err := d.Create(name)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
		name = fmt.Sprintf("%s.%d", base, n)
	}
}

// Zero writes zeros over the bytes of a file between two offsets.
func Zero(file disk.File, from, to int64) error {
	for off := from; off < to; off += chunk {
		if _, err := file.WriteAt(zeros[:min(chunk, to-off)], off); err != nil {
			return err
		}
	}
	return nil
}

// Confirm makes the last entry of a segment's file durable, and those that the entry's
// watermark does not prove. It writes them again: after a failed sync the page cache may hold
// them as clean, and only a write makes the next sync cover them.
func Confirm(file disk.File, end *journal.End) error {
	if end.Last == 0 {
		return file.Sync()
	}

	var e journal.Entry
	b, err := read(file, end.LastOffset, end.Offset)
	if err == nil {
		err = end.Segment.ParseEntry(b, end.LastOffset, &e)
	}
	if err != nil {
		return fmt.Errorf("%s is read otherwise the second time: %w", end.Segment.Name(), err)
	}

	unproven, err := read(file, e.Synced, end.LastOffset)
	if err == nil {
		err = end.Segment.ParseEntries(unproven, e.Synced)
	}
	if err != nil {
		return fmt.Errorf("%s is read otherwise the second time: %w", end.Segment.Name(), err)
	}

	if _, err := file.WriteAt(append(unproven, b...), e.Synced); err != nil {
		return err
	}
	return file.Sync()
}

// read returns the bytes of a file between two offsets.
func read(file disk.File, from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	if _, err := file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}
