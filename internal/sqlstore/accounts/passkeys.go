package accounts

import (
	"context"
	"database/sql"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// passkey is an account.Passkey in JSON.
type passkey struct {
	Number     uint32      `json:"number"`
	Name       string      `json:"name"`
	Credential []byte      `json:"credential"`
	PublicKey  []byte      `json:"public_key"`
	Synced     bool        `json:"synced"`
	Counter    uint32      `json:"counter"`
	Created    bourse.Time `json:"created"`
}

func writePasskeys(list []account.Passkey) []passkey {
	rows := make([]passkey, len(list))
	for i := range list {
		rows[i] = passkey(list[i])
	}
	return rows
}

// readPasskeys returns nil for an empty list, as accounts without passkeys have.
func readPasskeys(rows []passkey) (list []account.Passkey) {
	for i := range rows {
		list = append(list, account.Passkey(rows[i]))
	}
	return list
}

// UsePasskey stores the last use of a passkey. first is false if its count of signatures is
// not above the stored one; both may be zero.
func (s *Store) UsePasskey(
	ctx context.Context, id bourse.AccountID, credential []byte, counter uint32, at bourse.Time,
) (first bool, err error) {
	const put = `INSERT INTO passkey_uses (account, credential, counter, last_used) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account, credential) DO UPDATE SET counter = excluded.counter, last_used = excluded.last_used
		WHERE passkey_uses.counter < excluded.counter OR passkey_uses.counter = 0 AND excluded.counter = 0`
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, put, int64(id), credential, int64(counter), int64(at))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		first = n == 1
		return err
	})
	return first, err
}

// PasskeyUses returns the last uses of an account's passkeys.
func (s *Store) PasskeyUses(ctx context.Context, id bourse.AccountID) (map[string]bourse.Time, error) {
	uses := map[string]bourse.Time{}
	const of = `SELECT credential, last_used FROM passkey_uses WHERE account = $1`
	err := s.each(ctx, of, []any{int64(id)}, func(r *sql.Rows) error {
		var credential []byte
		var at bourse.Time
		err := r.Scan(&credential, &at)
		uses[string(credential)] = at
		return err
	})
	return uses, err
}

// forgetUses removes the uses of passkeys that a row does not have, nor any of its undos.
func forgetUses(ctx context.Context, tx *sql.Tx, row *account.AccountRow) error {
	kept := map[string]struct{}{}
	for i := range row.Passkeys {
		kept[string(row.Passkeys[i].Credential)] = struct{}{}
	}
	for i := range row.Undos {
		for j := range row.Undos[i].Passkeys {
			kept[string(row.Undos[i].Passkeys[j].Credential)] = struct{}{}
		}
	}

	used, err := usedPasskeys(ctx, tx, row.ID)
	if err != nil {
		return err
	}
	for _, credential := range used {
		if _, stays := kept[string(credential)]; stays {
			continue
		}
		const remove = `DELETE FROM passkey_uses WHERE account = $1 AND credential = $2`
		if _, err := tx.ExecContext(ctx, remove, int64(row.ID), credential); err != nil {
			return err
		}
	}
	return nil
}

func usedPasskeys(ctx context.Context, tx *sql.Tx, id bourse.AccountID) (list [][]byte, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT credential FROM passkey_uses WHERE account = $1`, int64(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // errors come with the rows
	for rows.Next() {
		var credential []byte
		if err := rows.Scan(&credential); err != nil {
			return nil, err
		}
		list = append(list, credential)
	}
	return list, rows.Err()
}
