package history

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestPositionLag holds the lag of a store against where the tail stands: only commands that
// left rows, or may have, make a store late.
func TestPositionLag(t *testing.T) {
	at := func(seq bourse.Seq) Cursor { return Cursor{Seq: seq, Time: 10 * bourse.Time(seq)} }
	for name, c := range map[string]struct {
		position
		stored   Cursor
		commands uint64
		span     bourse.Time
	}{
		"empty":                  {position{}, Cursor{}, 0, 0},
		"no rows":                {position{end: at(9)}, at(5), 0, 0},
		"rows are stored":        {position{rows: 5, end: at(9)}, at(5), 0, 0},
		"rows are missing":       {position{rows: 6, end: at(9)}, at(5), 4, 40},
		"dropped rows":           {position{begin: 6, rows: 3, end: at(9)}, at(5), 4, 40},
		"an empty store":         {position{rows: 6, end: at(9)}, Cursor{}, 9, 0},
		"a store that is beyond": {position{begin: 3, rows: 6, end: at(6)}, at(8), 0, 0},
	} {
		if commands, span := c.lag(&c.stored); commands != c.commands || span != c.span {
			t.Errorf("%s: a lag of %d commands and %d µs, want %d and %d", name, commands, span, c.commands, c.span)
		}
	}
}
