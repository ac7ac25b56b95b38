package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// ErrFenced says that another process of the exchange has the accounts.
var ErrFenced = errors.New("another machine has become the exchange")

// ErrDeposed is the [ErrFenced] of a node of a cluster: a node of a higher term leads the exchange.
// A request's earlier writes stay, so that its outcome is unknown.
var ErrDeposed = fmt.Errorf("%w: %w", ErrFenced, bourse.Errorf(bourse.CodeUnknown, "Another node leads the exchange now; see there what became of the request"))

// Tenure orders the processes that write to the accounts: by incarnation, then by term.
type Tenure struct {
	Incarnation bourse.Incarnation
	// Term is the term in which a node of a cluster leads; zero for an exchange on one node.
	Term uint64
}

// fence keeps the store from the accounts of a higher tenure. Every write reads the fence in its
// transaction, so that none is committed after another tenure has entered.
type fence struct {
	// share locks the row against a change until the transaction ends; a file has one writer at
	// a time anyhow.
	share string
	// own is the tenure of this process, which Enter sets; nil before, and in tools, whose writes are not checked.
	own atomic.Pointer[Tenure]
	// onFenced, if not nil, is told of each refused write.
	onFenced func(error)
}

// Enter raises the fence to a tenure, and keeps lower ones from writing. ErrFenced if a
// higher one was there. onFenced is called when a write is refused because one came.
func (s *Store) Enter(ctx context.Context, at Tenure, onFenced func(error)) error {
	ctx, cancel := s.db.Patient(ctx)
	defer cancel()
	s.onFenced = onFenced
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		const raise = `INSERT INTO fence (one, incarnation, term) VALUES (1, $1, $2)
			ON CONFLICT (one) DO UPDATE SET incarnation = excluded.incarnation, term = excluded.term
			WHERE fence.incarnation < excluded.incarnation
			OR fence.incarnation = excluded.incarnation AND fence.term < excluded.term`
		if _, err := tx.ExecContext(ctx, raise, int64(at.Incarnation), int64(at.Term)); err != nil {
			return err
		}
		s.own.Store(&at)
		return s.check(ctx, tx, s.share)
	})
}

// Holds returns ErrFenced if a higher tenure has entered.
func (s *Store) Holds(ctx context.Context) error {
	return s.db.Wrap(s.check(ctx, s.db.Reads(), ""))
}

// asked runs a query: a transaction, or the connections of a database.
type asked interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// check returns ErrFenced if a higher tenure has entered.
func (s *Store) check(ctx context.Context, in asked, share string) error {
	own := s.own.Load()
	if own == nil {
		return nil
	}
	var incarnation, term int64
	if err := in.QueryRowContext(ctx, `SELECT incarnation, term FROM fence`+share).Scan(&incarnation, &term); err != nil {
		return err
	}
	var err error
	switch {
	case incarnation > int64(own.Incarnation):
		err = fmt.Errorf("%w: the accounts are of incarnation %d, and this one is %d", ErrFenced, incarnation, own.Incarnation)
	case incarnation == int64(own.Incarnation) && uint64(term) > own.Term:
		err = fmt.Errorf("%w: the accounts are of term %d, and this node led in term %d", ErrDeposed, term, own.Term)
	default:
		return nil
	}
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
	return errors.Join(s.Enter(ctx, Tenure{Incarnation: incarnation}, nil), s.Close())
}
