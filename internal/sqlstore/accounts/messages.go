package accounts

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// AddMessage stores the message of a transfer.
func (s *Store) AddMessage(ctx context.Context, token bourse.Token, sender bourse.AccountID, text string) error {
	return s.exec(ctx, `INSERT INTO messages (token, sender, text) VALUES ($1, $2, $3)`, token[:], int64(sender), text)
}

// DropMessage removes a message.
func (s *Store) DropMessage(ctx context.Context, token bourse.Token) error {
	return s.exec(ctx, `DELETE FROM messages WHERE token = $1`, token[:])
}

// Message returns a message, or the empty string if there is none.
func (s *Store) Message(ctx context.Context, token bourse.Token) (text string, err error) {
	err = s.db.Reads().QueryRowContext(ctx, `SELECT text FROM messages WHERE token = $1`, token[:]).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return text, s.db.Wrap(err)
}
