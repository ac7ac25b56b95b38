package view

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// TapeSection is the section of a snapshot with the tape.
const TapeSection = "tape"

// tapeVersion is the version of the section's format.
const tapeVersion = 3

// ErrMalformedTape means that bytes are no tape written by this program.
var ErrMalformedTape = errors.New("malformed tape")

// Snapshot writes the tape. emit receives the bytes in order and must not keep them.
func (t *Tape) Snapshot(emit func([]byte)) {
	c := codec.NewWriter(emit)
	version := uint32(tapeVersion)
	codec.Uint32(c, &version)
	codec.Uint64(c, &t.minute)
	c.Count(len(t.markets) - 1)
	for _, m := range t.markets[1:] {
		m.code(c)
	}
	c.Flush()
}

func (m *marketTape) code(c *codec.Codec) {
	codec.Uint64(c, &m.last)
	codec.Uint64(c, &m.previous)
	codec.Uint64(c, &m.before)
	codec.Uint64(c, &m.lots)
	codec.Uint64(c, &m.trades)
	codec.Uint64(c, &m.first)
	for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
		m.candles[res].code(c)
	}
	minutes := codec.List(c, &m.minutes, bucketSize)
	for i := range minutes {
		minutes[i].code(c)
	}
}

// bucketSize is the encoded size of a bucket in bytes.
const bucketSize = 7*8 + 4*16

func (b *Bucket) code(c *codec.Codec) {
	codec.Uint64(c, &b.Start)
	codec.Uint64(c, &b.Open)
	codec.Uint64(c, &b.High)
	codec.Uint64(c, &b.Low)
	codec.Uint64(c, &b.Close)
	c.Amount(&b.Volume)
	c.Amount(&b.Value)
	c.Amount(&b.Bought)
	c.Amount(&b.Spent)
	codec.Uint64(c, &b.First)
	codec.Uint64(c, &b.Last)
}

// RestoreTape rebuilds a tape from the bytes of Snapshot. The error is ErrMalformedTape or
// names a version that this program does not know.
func RestoreTape(b []byte) (*Tape, error) {
	c := codec.NewReader(b)
	var version uint32
	codec.Uint32(c, &version)
	switch {
	case !c.OK():
		return nil, ErrMalformedTape
	case version != tapeVersion:
		return nil, fmt.Errorf("tape version %d is not known to this program, which writes %d", version, tapeVersion)
	}

	t := NewTape()
	codec.Uint64(c, &t.minute)
	for n := c.Count(0); n > 0 && c.OK(); n-- {
		m := &marketTape{id: bourse.MarketID(len(t.markets))}
		m.code(c)
		for m.day < len(m.minutes) && m.minutes[m.day].Start <= t.minute-bourse.Day {
			m.day++
		}
		m.recount()
		c.Want(m.before != 0)
		t.markets = append(t.markets, m)
	}

	if !c.Done() {
		return nil, ErrMalformedTape
	}
	return t, nil
}
