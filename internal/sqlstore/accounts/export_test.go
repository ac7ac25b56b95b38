package accounts

import (
	"context"
	"database/sql"
)

// Freeze holds the fence in a write that goes on once thaw is closed.
func (s *Store) Freeze(ctx context.Context, frozen chan<- struct{}, thaw <-chan struct{}) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := s.check(ctx, tx, s.share); err != nil {
			return err
		}
		close(frozen)
		<-thaw
		_, err := tx.ExecContext(ctx, `DELETE FROM accounts`)
		return err
	})
}

// Beside returns a store of another process on the same database.
func Beside(s *Store) *Store { return &Store{db: s.db, fence: fence{share: s.share}} }

// SelectLike is the query of AccountsLike.
const SelectLike = selectLike

// LastActivities is the query of [Store.LastActivities].
var LastActivities = lastActivities

// NewestLogIns is the query of [Store.LogIns], and TrimActivity the one of [Store.AddActivity].
const (
	NewestLogIns = newestLogIns
	TrimActivity = trimActivity
)
