package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// Install checks the backup in src and restores it to the data directory dir, which must
// be empty or missing. Until all checks have passed, the directory has another name.
func Install(src, dir string) (*Manifest, error) {
	if err := empty(dir); err != nil {
		return nil, err
	}
	m, err := read(src)
	if err != nil {
		return nil, err
	}

	staging := dir + ".restoring"
	if err := os.RemoveAll(staging); err != nil {
		return nil, err
	}

	c := copier{from: src, to: staging, files: map[string]File{}}
	for name, want := range m.Files {
		if err := c.file(name); err != nil {
			return nil, err
		}
		if got, copied := c.files[name]; !copied || got != want {
			return nil, fmt.Errorf("%s in the backup is not what was backed up", name)
		}
	}

	incarnation, err := m.replay(staging)
	if err != nil {
		return nil, fmt.Errorf("the backup does not replay: %w", err)
	}
	return m, install(m, incarnation+1, staging, dir)
}

// read reads a manifest.
func read(src string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(src, manifestName)) //nolint:gosec // the operator names the directory
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no backup, or was not finished: it has no %s", src, manifestName)
	}
	if err != nil {
		return nil, err
	}

	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}

	if m.Format != format {
		return nil, fmt.Errorf("%s has format %d; this program knows %d", manifestName, m.Format, format)
	}
	if m.StateHash == "" {
		return nil, fmt.Errorf("%s has no state hash", manifestName)
	}
	for name := range m.Files {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s names a file outside of the backup: %q", manifestName, name)
		}
	}
	return &m, nil
}

// install makes the restored directory durable and gives it its name. Its next start begins an
// incarnation, because the exchange may have gone on after the backup.
func install(m *Manifest, incarnation bourse.Incarnation, staging, dir string) error {
	d, err := disk.OpenExisting(staging)
	if err != nil {
		return err
	}
	err = standby.Role{Raise: incarnation, Why: "restore of " + m.Taken}.Write(d)
	if err := errors.Join(err, syncDirs(d, m.Files), d.Close()); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // dir exists and cannot be removed
	}

	if err := os.Rename(staging, dir); err != nil {
		return err
	}
	parent, err := disk.OpenExisting(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.SyncDir("."), parent.Close())
}
