package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// ErrFull tells a client that a row found no room. Nothing of the write was kept, and
// the same may be tried again.
var ErrFull = bourse.Errorf(bourse.CodeUnavailable, "The exchange's disk is full; try again later")

// Explain adds to an error of SQLite what it means to us: ErrForeign for a file
// that is no database, ErrDamaged for one that is not what was written, ErrFull for a
// disk without room.
func Explain(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN:
		return fmt.Errorf("%w: %w", ErrFull, err) // the index of the log has no room
	}

	switch code(err) & 0xff { // the rest of a code says more than we ask for
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", sqlstore.ErrForeign, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", sqlstore.ErrDamaged, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// IsDuplicate reports whether an error says that a row would break a UNIQUE
// constraint or a primary key.
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
