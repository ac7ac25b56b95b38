package journal

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Errors of files that are intact but do not belong here.
var (
	// ErrOtherExchange: a file belongs to another exchange.
	ErrOtherExchange = errors.New("belongs to another exchange")
	// ErrSandbox: a file of a sandbox was given to production, or the other way round.
	ErrSandbox = errors.New("sandbox and production do not mix")
	// ErrNewerFormat: a file was written by a newer version of the program.
	ErrNewerFormat = errors.New("was written in a newer format")
	// ErrOlderFormat: a file was written before the formats began anew.
	ErrOlderFormat = errors.New("was made by Bourse 0.1.0 or older, whose data this program does not read: " +
		"go on with the program that made it, or begin in an empty directory (docs/upgrade.md)")
	// ErrReplica: the journal of a cluster's node was given to a single node, or the other
	// way round.
	ErrReplica = errors.New("a cluster's journal and a single node's do not mix")
	// ErrCut: the journal lacks commands that another file proves it had.
	ErrCut = errors.New("the journal may have been cut back or replaced")
)

// checkFormat returns an error unless a file has the version that this program reads.
func checkFormat(what string, has, reads uint32) error {
	switch {
	case has > reads:
		return fmt.Errorf("%s of version %d %w", what, has, ErrNewerFormat)
	case has < reads:
		return fmt.Errorf("%s of version %d %w", what, has, ErrOlderFormat)
	default:
		return nil
	}
}

// isOtherFormat reports whether an error marks an intact file of another version than this
// program reads.
func isOtherFormat(err error) bool {
	return errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrOlderFormat)
}

// whole returns an error of parsing a whole file: a *DamageError that names the command seq, unless
// the file is intact and does not belong here.
func whole(name string, seq bourse.Seq, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrOtherExchange), errors.Is(err, ErrSandbox), isOtherFormat(err):
		return fmt.Errorf("%s: %w", name, err)
	default:
		return &DamageError{name, 0, seq, err}
	}
}

// Identity identifies an exchange. Every file's header has it, so that no file is read in
// place of another.
type Identity struct {
	// Exchange is chosen once, at genesis.
	Exchange [16]byte
	// Sandbox is true for an exchange whose money is not real.
	Sandbox bool
}

// Check returns an error unless files with the identity other may be read as files of
// this exchange.
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

// Tip is the end of a journal: the next frame continues it.
type Tip struct {
	// Last is the last command, zero before the first.
	Last bourse.Seq
	// Chain is the hash of Last's frame, zero before the first.
	Chain Hash
	Term  uint64
	Time  bourse.Time
}

// DamageError reports a file that differs from the bytes written. Damage is never
// repaired: readers stop at it.
type DamageError struct {
	File   string
	Offset int64
	// Seq is the first command lost to the damage, as far as is known.
	Seq   bourse.Seq
	Cause error
}

// Error names the file, the offset and the command.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d (command %d): %v", e.File, e.Offset, e.Seq, e.Cause)
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Cause }
