package view

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// TapeSection is the section of a snapshot that holds the tape.
const TapeSection = "tape"

// tapeVersion is the version of the section's form.
const tapeVersion = 1

// Snapshot writes the tape; emit receives the bytes in order and must not keep
// them.
func (t *Tape) Snapshot(emit func([]byte)) {
	w := state.NewWriter(emit)
	w.Uint32(tapeVersion)
	w.Uint64(uint64(t.minute))
	w.Uint64(uint64(len(t.markets) - 1))
	for _, m := range t.markets[1:] {
		w.Uint64(uint64(m.last))
		w.Uint64(uint64(m.previous))
		w.Uint64(uint64(m.before))
		w.Uint64(m.trades)
		w.Uint64(uint64(m.first))
		for i := range m.candles {
			writeBucket(w, &m.candles[i])
		}
		w.Uint64(uint64(len(m.minutes)))
		for i := range m.minutes {
			writeBucket(w, &m.minutes[i])
		}
	}
	w.Flush()
}

func writeBucket(w *state.Writer, b *Bucket) {
	w.Uint64(uint64(b.Start))
	for _, p := range [...]bourse.Price{b.Open, b.High, b.Low, b.Close} {
		w.Uint64(uint64(p))
	}
	w.Amount(b.Volume)
	w.Amount(b.Value)
}

// bucketSize is the bytes that a bucket takes.
const bucketSize = 5*8 + 2*16

// RestoreTape rebuilds a tape from what Snapshot wrote. The error is
// state.ErrMalformed.
func RestoreTape(b []byte) (*Tape, error) {
	r := state.NewReader(b)
	if r.Uint32() != tapeVersion {
		return nil, state.ErrMalformed
	}
	t := NewTape()
	t.minute = bourse.Time(r.Uint64())
	for n := r.Count(5*8 + 3*bucketSize + 8); n > 0; n-- {
		m := &marketTape{
			id: bourse.MarketID(len(t.markets)), last: bourse.Price(r.Uint64()), previous: bourse.Price(r.Uint64()),
			before: bourse.Price(r.Uint64()), trades: r.Uint64(), first: bourse.Time(r.Uint64()),
		}
		for i := range m.candles {
			m.candles[i] = readBucket(r)
		}
		for left := r.Count(bucketSize); left > 0; left-- {
			m.minutes = append(m.minutes, readBucket(r))
		}
		for m.day < len(m.minutes) && m.minutes[m.day].Start <= t.minute-bourse.Day {
			m.day++
		}
		m.recount()
		if m.before == 0 {
			r.Fail()
		}
		t.markets = append(t.markets, m)
	}
	if r.Err() != nil || r.Rest() != 0 {
		return nil, state.ErrMalformed
	}
	return t, nil
}

func readBucket(r *state.Reader) Bucket {
	return Bucket{
		Start: bourse.Time(r.Uint64()),
		Open:  bourse.Price(r.Uint64()), High: bourse.Price(r.Uint64()),
		Low: bourse.Price(r.Uint64()), Close: bourse.Price(r.Uint64()),
		Volume: r.Amount(), Value: r.Amount(),
	}
}
