package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// ErrFenced says that a higher incarnation of the exchange has the accounts.
var ErrFenced = errors.New("another machine has become the exchange")

// fence keeps the store from a higher incarnation's accounts. Every write reads the fence in its
// transaction, so that none is committed after another incarnation has entered.
type fence struct {
	// share locks the row against a change until the transaction ends; a file has one writer at
	// a time anyhow.
	share string
	// own is the incarnation that entered; zero for a store that nobody serves from.
	own atomic.Uint32
	// onFenced, if not nil, is told of the first refused write.
	onFenced func(error)
}

// Enter raises the fence to an incarnation, and keeps lower ones from writing. ErrFenced if a
// higher one was there. onFenced is called when a write is refused because one came.
func (s *Store) Enter(ctx context.Context, incarnation bourse.Incarnation, onFenced func(error)) error {
	ctx, cancel := s.db.Patient(ctx)
	defer cancel()
	s.onFenced = onFenced
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		const raise = `INSERT INTO fence (one, incarnation) VALUES (1, $1)
			ON CONFLICT (one) DO UPDATE SET incarnation = excluded.incarnation WHERE fence.incarnation < excluded.incarnation`
		if _, err := tx.ExecContext(ctx, raise, int64(incarnation)); err != nil {
			return err
		}
		s.own.Store(uint32(incarnation))
		return s.check(ctx, tx)
	})
}

// check returns ErrFenced if a higher incarnation has entered.
func (s *Store) check(ctx context.Context, tx *sql.Tx) error {
	own := s.own.Load()
	if own == 0 {
		return nil
	}
	var highest int64
	if err := tx.QueryRowContext(ctx, `SELECT incarnation FROM fence`+s.share).Scan(&highest); err != nil {
		return err
	}
	if highest <= int64(own) {
		return nil
	}

	err := fmt.Errorf("%w: the accounts are of incarnation %d, and this one is %d", ErrFenced, highest, own)
	if s.onFenced != nil {
		s.onFenced(err)
	}
	return err
}

// Fence raises the fence of the accounts in a place to an incarnation that will be served from
// there.
func Fence(ctx context.Context, place string, incarnation bourse.Incarnation) error {
	s, err := Open(ctx, place)
	if err != nil {
		return err
	}
	return errors.Join(s.Enter(ctx, incarnation, nil), s.Close())
}
