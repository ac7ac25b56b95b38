package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// Options configure a log in a data directory.
type Options struct {
	// Identity is the journal's; a new journal gets it.
	Identity Identity
	// SegmentSize is the size of new segments in bytes, rounded up to blocks; zero for
	// the log's default.
	SegmentSize int64
	// Reserve, if not nil, returns the bytes of disk space that the log leaves free for
	// other files. It must not use the log.
	Reserve func() uint64
	// Progress, if not nil, gets the bytes verified so far and in total.
	Progress func(done, total int64)
}

// Recovery is the result of opening a journal.
type Recovery struct {
	// Tip is the journal's tip.
	Tip Tip
	// First is the oldest command in the live segments, Tip.Last+1 if there is none;
	// Frames is the number of verified frames with commands.
	First  bourse.Seq
	Frames int
	// Sealed is true if the log was closed cleanly, or is new.
	Sealed bool
	// Torn is the entry cut from the end, nil if none was.
	Torn *CutEnd
}

// CutEnd is an entry that a crash interrupted. Its commands were never acknowledged.
type CutEnd struct {
	Torn
	// Copy is the file with the cut bytes. It is empty if the disk had no room for it:
	// the log then neither cuts nor accepts proposals until it has room.
	Copy string
}

// lockName is the lock file of the process that has the journal open.
const lockName = LiveDir + "/LOCK"

// Lock locks the journal for this process until the Closer is closed. ErrInUse if another
// process has it.
func Lock(d disk.Disk) (io.Closer, error) {
	lock, err := d.Lock(lockName)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return lock, err
}
