package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// ErrFull tells a client that a write found no space. Nothing of the write was kept, and
// the client may try again.
var ErrFull = bourse.Errorf(bourse.CodeFull, "The exchange's disk is full; try again later")

// Explain adds the class of an SQLite error: ErrForeign for a file that is no database,
// ErrDamaged for a damaged one, ErrFull for a full disk.
func Explain(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN:
		return fmt.Errorf("%w: %w", ErrFull, err) // no space for the index of the log
	}

	switch code(err) & 0xff { // the low byte is the primary code
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", sqlstore.ErrForeign, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", sqlstore.ErrDamaged, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// IsDuplicate reports whether an error is a violation of a UNIQUE constraint or a primary
// key.
func (f *File) IsDuplicate(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CONSTRAINT_UNIQUE || c == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
