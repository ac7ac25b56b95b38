package journal

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Errors of files that are whole, but not for us.
var (
	// ErrOtherExchange: a file belongs to another exchange.
	ErrOtherExchange = errors.New("belongs to another exchange")
	// ErrSandbox: a file of a sandbox was given to production, or the reverse.
	ErrSandbox = errors.New("sandbox and production do not mix")
	// ErrNewerFormat: a file was written by a newer version of the program.
	ErrNewerFormat = errors.New("was written in a newer format")
	// ErrCut: the journal lacks commands that something beside it proves it had.
	ErrCut = errors.New("the journal may have been cut back or replaced")
)

// Identity is whose journal it is. It is in the header of every file, so that
// none can be read in place of another.
type Identity struct {
	// Exchange is chosen once, at genesis.
	Exchange [16]byte
	// Sandbox is true for an exchange whose money is not real.
	Sandbox bool
}

// Check returns why a file with another identity must not be read by this one's
// exchange, or nil.
func (id Identity) Check(other Identity) error {
	switch {
	case id.Sandbox != other.Sandbox:
		return ErrSandbox
	case id.Exchange != other.Exchange:
		return fmt.Errorf("%w (%x)", ErrOtherExchange, other.Exchange)
	default:
		return nil
	}
}

// Tip is where a journal stands: what the next frame is appended to.
type Tip struct {
	// Last is the last command, zero before the first.
	Last bourse.Seq
	// Chain is the hash of Last's frame, zero before the first.
	Chain Hash
	Term  uint64
	Time  bourse.Time
}

// DamageError says where a file is not what was written. It is never repaired:
// whoever reads it stops.
type DamageError struct {
	File   string
	Offset int64
	// Seq is the first command that is lost by it, as far as is known.
	Seq   bourse.Seq
	Cause error
}

// Error names the file, the place in it and the command.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d (command %d): %v", e.File, e.Offset, e.Seq, e.Cause)
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Cause }
