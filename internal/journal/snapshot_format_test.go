package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"
)

// snapshotOf returns a snapshot at 5 with these contents after some bytes, and with
// correct checksums, as only a program could have written.
func snapshotOf(body, contents []byte) []byte {
	b := append(appendPrefix(nil, Identity{}, 5), body...)
	b = append(b, contents...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(contents)))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// contentsOf returns the encoded contents without their length.
func contentsOf(sections ...section) []byte {
	b := appendContents(nil, &contents{SnapshotHeader{Tip: Tip{Last: 5}}, sections})
	return b[:len(b)-4]
}

func TestContentsThatContradictTheFile(t *testing.T) {
	body := []byte("0123456789")
	good := contentsOf(section{"a", snapshotPrefix, 4}, section{"b", snapshotPrefix + 4, 6})
	read := func(contents []byte) (damaged bool, err error) {
		b := snapshotOf(body, contents)
		_, damaged, err = parseSnapshot(bytes.NewReader(b), int64(len(b)), Identity{}, 5)
		return damaged, err
	}
	if _, err := read(good); err != nil {
		t.Fatal(err)
	}
	for name, contents := range map[string][]byte{
		"nothing":            {},
		"bytes left over":    append(bytes.Clone(good), 0),
		"too short":          good[:len(good)-1],
		"no section":         contentsOf(),
		"bytes in no one":    contentsOf(section{"a", snapshotPrefix, 4}),
		"a gap":              contentsOf(section{"a", snapshotPrefix, 4}, section{"b", snapshotPrefix + 5, 5}),
		"an overlap":         contentsOf(section{"a", snapshotPrefix, 4}, section{"b", snapshotPrefix + 3, 6}),
		"beyond the end":     contentsOf(section{"a", snapshotPrefix, 11}),
		"a negative size":    contentsOf(section{"a", snapshotPrefix, -1}, section{"b", snapshotPrefix - 1, 11}),
		"before the section": contentsOf(section{"a", 0, snapshotPrefix + 10}),
		"another moment":     append([]byte{6}, good[1:]...),
	} {
		if damaged, err := read(contents); !damaged || err == nil {
			t.Errorf("%s: damaged is %t, %v", name, damaged, err)
		}
	}
}

// FuzzContents shows that no contents lead out of the file.
func FuzzContents(f *testing.F) {
	f.Add(contentsOf(section{"a", snapshotPrefix, 4}, section{"b", snapshotPrefix + 4, 6}), uint16(10))
	f.Add([]byte{}, uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		end := snapshotPrefix + int64(size)
		c, err := parseContents(b, end)
		if err != nil {
			return
		}
		at := int64(snapshotPrefix)
		for _, s := range c.sections {
			if s.offset != at || s.size < 0 {
				t.Fatalf("section %q is at %d", s.name, s.offset)
			}
			at += s.size
		}
		if at != end {
			t.Fatalf("the sections end at %d of %d", at, end)
		}
		if again := appendContents(nil, c); !bytes.Equal(again[:len(again)-4], b) {
			t.Fatal("contents can be written in two ways")
		}
	})
}
