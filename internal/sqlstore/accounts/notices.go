package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/notice"
)

// AddNotice adds a notice and sets its id.
func (s *Store) AddNotice(ctx context.Context, n *notice.Notice) error {
	const insert = `INSERT INTO notices (kind, title, body, created) VALUES ($1, $2, $3, $4) RETURNING id`
	return s.write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, insert, n.Kind.String(), n.Title, n.Body, int64(n.Created)).Scan(&n.ID)
	})
}

// EndNotice marks a notice as ended.
func (s *Store) EndNotice(ctx context.Context, id notice.ID, at bourse.Time) error {
	return s.exec(ctx, `UPDATE notices SET ended = $1 WHERE id = $2 AND ended = 0`, int64(at), int64(id))
}

const selectNotices = `SELECT id, kind, title, body, created, ended FROM notices `

// LiveNotices returns the live notices, newest first.
func (s *Store) LiveNotices(ctx context.Context) ([]notice.Notice, error) {
	return s.notices(ctx, selectNotices+`WHERE ended = 0 ORDER BY id DESC`)
}

// Notices returns a page of all notices, newest first.
func (s *Store) Notices(ctx context.Context, before notice.ID, limit int) ([]notice.Notice, error) {
	const page = selectNotices + `WHERE id < $1 OR $1 = 0 ORDER BY id DESC LIMIT $2`
	return s.notices(ctx, page, int64(before), limit)
}

func (s *Store) notices(ctx context.Context, query string, args ...any) (list []notice.Notice, err error) {
	err = s.each(ctx, query, args, func(r *sql.Rows) error {
		var n notice.Notice
		var kind string
		err := r.Scan(&n.ID, &kind, &n.Title, &n.Body, &n.Created, &n.Ended)
		n.Kind, _ = notice.ParseKind(kind) // the table has no other words
		list = append(list, n)
		return err
	})
	return list, err
}
