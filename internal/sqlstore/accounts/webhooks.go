package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse/internal/webhook"
)

// Webhooks returns all endpoints by ascending id.
func (s *Store) Webhooks(ctx context.Context) (list []webhook.Endpoint, err error) {
	const all = `SELECT id, url, kinds, sealed, created, seq, place, delivered, failing, disabled, cause FROM webhooks
		ORDER BY id`
	err = s.each(ctx, all, nil, func(r *sql.Rows) error {
		var e webhook.Endpoint
		var kinds string
		err := r.Scan(&e.ID, &e.URL, &kinds, &e.Sealed, &e.Created, &e.After.Seq, &e.After.Place, &e.Delivered,
			&e.Failing, &e.Disabled, &e.Cause)
		e.Kinds, _ = webhook.ParseKinds(kinds) // malformed ones become none, for which no secret opens
		list = append(list, e)
		return err
	})
	return list, err
}

// AddWebhook adds an endpoint and sets its id.
func (s *Store) AddWebhook(ctx context.Context, e *webhook.Endpoint) error {
	const insert = `INSERT INTO webhooks (url, kinds, sealed, created, seq, place) VALUES ($1, $2, $3, $4, $5, $6)
		RETURNING id`
	return s.write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, insert, e.URL, e.Kinds.String(), e.Sealed, int64(e.Created), int64(e.After.Seq),
			int64(e.After.Place)).Scan(&e.ID)
	})
}

// MoveWebhook sets an endpoint's progress.
func (s *Store) MoveWebhook(ctx context.Context, id webhook.ID, p *webhook.Progress) error {
	const move = `UPDATE webhooks SET seq = $1, place = $2, delivered = $3, failing = $4, disabled = $5, cause = $6
		WHERE id = $7`
	return s.exec(ctx, move, int64(p.After.Seq), int64(p.After.Place), int64(p.Delivered), int64(p.Failing),
		int64(p.Disabled), p.Cause, int64(id))
}

// RemoveWebhook removes an endpoint.
func (s *Store) RemoveWebhook(ctx context.Context, id webhook.ID) error {
	return s.exec(ctx, `DELETE FROM webhooks WHERE id = $1`, int64(id))
}
