package signer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bourse-exchange/bourse/internal/disk"
)

// Names of the seed: it gets its own when all of it is durable, so that there is
// never half of one, nor a second one after addresses were given away.
const (
	seedName = "seed"
	seedTemp = "seed.new"
)

// Seed returns the secret from which all keys are derived. The first time it is
// made from random; after that it is what the directory has, or an error.
func Seed(d disk.Disk, random io.Reader) (seed [32]byte, err error) {
	text, err := disk.ReadFile(d, seedName)
	if errors.Is(err, fs.ErrNotExist) {
		return makeSeed(d, random)
	}
	if err != nil {
		return seed, fmt.Errorf("signer: %w", err)
	}
	digits, whole := bytes.CutSuffix(text, []byte("\n"))
	if !whole || len(digits) != hex.EncodedLen(len(seed)) {
		return seed, fmt.Errorf("signer: %s is damaged", seedName)
	}
	if _, err := hex.Decode(seed[:], digits); err != nil {
		return [32]byte{}, fmt.Errorf("signer: %s is damaged", seedName)
	}
	return seed, nil
}

func makeSeed(d disk.Disk, random io.Reader) (seed [32]byte, err error) {
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return seed, fmt.Errorf("signer: %w", err)
	}
	if err := d.Remove(seedTemp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return seed, fmt.Errorf("signer: %w", err)
	}
	f, err := d.Create(seedTemp)
	if err != nil {
		return seed, fmt.Errorf("signer: %w", err)
	}
	_, err = f.WriteAt(append(hex.AppendEncode(nil, seed[:]), '\n'), 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Rename(seedTemp, seedName)
	}
	if err == nil {
		err = d.SyncDir(".")
	}
	if err != nil {
		return [32]byte{}, fmt.Errorf("signer: %w", err)
	}
	return seed, nil
}
