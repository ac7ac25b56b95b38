package sqlite

import (
	"context"
	"database/sql"
	"os"
)

// folder decides when and how a file's log is folded into the file. The tables read the
// same with either folder (TestFoldersAgree).
type folder interface {
	// write runs a transaction of the writer, and folds the log if it is due. It returns
	// the transaction's error only; the next write reports a failed fold.
	write(ctx context.Context, transact func() error) error
	// fold folds the log, as far as readers allow.
	fold(ctx context.Context) error
	// close runs closeDB, which closes SQLite, unless that would lose data that is only
	// in the log. It may be called again.
	close(closeDB func() error) error
}

// checkpoints folds a log with SQLite's own checkpoints, which return its space.
type checkpoints struct {
	writer *sql.DB
	log    string
	// at is the length of the log to fold at, in bytes.
	at int64
}

func (c *checkpoints) write(ctx context.Context, transact func() error) error {
	if err := transact(); err != nil {
		return err
	}

	// If the fold fails, the log grows, and the next write reports the reason.
	if info, err := os.Stat(c.log); err == nil && info.Size() >= c.at {
		_ = c.fold(ctx)
	}
	return nil
}

func (c *checkpoints) fold(ctx context.Context) error {
	_, err := c.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

func (c *checkpoints) close(closeDB func() error) error { return closeDB() }
