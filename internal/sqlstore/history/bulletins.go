package history

import (
	"context"

	"github.com/bourse-exchange/bourse/internal/history"
)

const selectBulletins = `SELECT seq, place, time, kind, data FROM bulletins WHERE (seq, place) > ($1, $2)
	ORDER BY seq, place LIMIT $3`

// Bulletins returns the bulletins behind a place, oldest first.
func (s *Store) Bulletins(ctx context.Context, after history.BulletinPlace, limit int) ([]history.Bulletin, error) {
	return list(ctx, s, selectBulletins, func(r scanner, b *history.Bulletin) error {
		var kind string
		err := r.Scan(&b.Seq, &b.Place, &b.Time, &kind, &b.Data)
		b.Kind, _ = history.ParseBulletinKind(kind) // a newer program's kind is none, which is never delivered
		return err
	}, integer(after.Seq), int64(after.Place), limit)
}

func (i *inserts) addBulletins(ctx context.Context, b *history.Batch) error {
	for n := range b.Bulletins {
		v := &b.Bulletins[n]
		err := i.bulletins.Add(ctx, integer(v.Seq), int64(v.Place), int64(v.Time), v.Kind.String(), v.Data)
		if err != nil {
			return err
		}
	}
	return i.bulletins.Flush(ctx)
}
