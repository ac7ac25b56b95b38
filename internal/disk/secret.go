package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Secret returns the 32 random bytes in a file. A missing file is created durably, with
// its directory.
func Secret(d Disk, name string) (secret [32]byte, err error) {
	b, err := ReadFile(d, name)
	switch {
	case err == nil && len(b) == len(secret):
		return [32]byte(b), nil
	case err == nil:
		return secret, fmt.Errorf("%s is not a seed", name)
	case !errors.Is(err, fs.ErrNotExist):
		return secret, err
	}

	if _, err := rand.Read(secret[:]); err != nil {
		return secret, err
	}
	return secret, PutSecret(d, name, secret[:])
}

// PutSecret makes the bytes of a secret durable in a file, with its directory.
func PutSecret(d Disk, name string, b []byte) error {
	if err := d.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	if err := Replace(d, name, name+".tmp", b); err != nil {
		return err
	}
	return d.SyncDir(".")
}
