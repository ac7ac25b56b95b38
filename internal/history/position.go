package history

import "github.com/bourse-exchange/bourse"

// position is a tail's position in the journal: the tail has the rows of the commands
// after begin, up to end. The observer advances its own copy while a frame is open;
// readers get it at End.
type position struct {
	// begin is the last command whose rows may be missing from the tail: the store had them
	// already, a snapshot was restored there, or the tail had no room for them.
	begin bourse.Seq
	// rows is the last command that left rows in the tail; zero if none did.
	rows bourse.Seq
	// end is the last command that was observed, and its time.
	end Cursor
}

// newest returns the last command that left rows, or may have.
func (p *position) newest() bourse.Seq { return max(p.rows, p.begin) }

// lag returns the distance of a store at a cursor: zero while it misses no rows.
func (p *position) lag(stored *Cursor) (commands uint64, span bourse.Time) {
	if p.newest() <= stored.Seq {
		return 0, 0
	}
	if commands = uint64(p.end.Seq - stored.Seq); stored.Seq == 0 {
		return commands, 0 // an empty store has no time
	}
	return commands, p.end.Time - stored.Time
}
