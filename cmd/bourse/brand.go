package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bourse-exchange/bourse/internal/brand"
)

// brandFlag is the flag of the brand.
const brandFlag = "brand"

// maxFile bounds the files that settings name, in bytes.
const maxFile = 1 << 20

// dressing is a brand that settings give; Brand is nil without one.
type dressing struct{ *brand.Brand }

// UnmarshalText reads the name of a file with a block, or the block of a configuration file,
// which has several lines or one with a colon and a space.
func (d *dressing) UnmarshalText(text []byte) (err error) {
	if !strings.ContainsAny(string(text), "\n") {
		if text, err = readBounded(string(text)); err != nil {
			return err
		}
	}
	d.Brand, err = brand.Parse(text, readBounded)
	return err
}

// name returns the name of the exchange.
func (d *dressing) name() string {
	if d.Brand == nil {
		return brand.Default().Name
	}
	return d.Name
}

// readBounded reads a file of at most maxFile bytes.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return text, err
}
