package accounts

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// AddPersonChange adds a pending change of an account's row. A new e-mail address is
// reserved by a pending account under the salt.
func (s *Store) AddPersonChange(ctx context.Context, row *account.AccountRow) error {
	const (
		reserve = `INSERT INTO accounts (token, email, created, salt) SELECT $1, $2, 0, $1
			WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE id = $3 AND email = $2)`
		insert = `INSERT INTO person_changes (salt, id, email, password, totp, totp_used, cases, undos, passkeys)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	)
	undos, passkeys, err := writePerson(row)
	if err != nil {
		return err
	}

	err = s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, reserve, row.Salt[:], row.Email, int64(row.ID)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, insert, row.Salt[:], int64(row.ID), row.Email, row.Password, row.TOTP,
			row.TOTPUsed, row.Cases.String(), undos, passkeys)
		return err
	})
	if s.db.IsDuplicate(err) {
		return account.ErrTaken
	}
	return err
}

// PersonChanges passes every pending change to yield.
func (s *Store) PersonChanges(ctx context.Context, yield func(*account.AccountRow) error) error {
	const all = `SELECT salt, id, email, password, totp, totp_used, cases, undos, passkeys FROM person_changes`
	return s.each(ctx, all, nil, func(r *sql.Rows) error {
		var row account.AccountRow
		var salt []byte
		var cases, undos, passkeys string
		err := r.Scan(&salt, &row.ID, &row.Email, &row.Password, &row.TOTP, &row.TOTPUsed, &cases, &undos, &passkeys)
		if err != nil {
			return s.db.Wrap(err)
		}
		copy(row.Salt[:], salt)
		readPerson(&row, cases, undos, passkeys)
		return yield(&row)
	})
}

// confirmPeople applies the journal's decisions about people and sessions.
func confirmPeople(ctx context.Context, tx *sql.Tx, work *account.Decisions) error {
	for id := range work.People {
		row := work.People[id]
		if err := changePerson(ctx, tx, &row); err != nil {
			return err
		}
	}
	for _, id := range work.Ended {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = $1`, int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// changePerson applies a confirmed change to a row. A new TOTP secret resets the last
// used step.
func changePerson(ctx context.Context, tx *sql.Tx, row *account.AccountRow) error {
	const update = `UPDATE accounts SET email = $1, password = $2, totp = $3, totp_used = $4, cases = $5, undos = $6,
		salt = $7, totp_step = CASE WHEN totp IS NOT DISTINCT FROM $3 THEN totp_step ELSE 0 END, passkeys = $9
		WHERE id = $8`
	undos, passkeys, err := writePerson(row)
	if err != nil {
		return err
	}

	if err := drop(ctx, tx, []bourse.Token{bourse.Token(row.Salt)}); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, update, row.Email, row.Password, row.TOTP, row.TOTPUsed, row.Cases.String(), undos,
		row.Salt[:], int64(row.ID), passkeys); err != nil {
		return err
	}
	if err := forgetUses(ctx, tx, row); err != nil {
		return err
	}

	if _, err := tx.ExecContext(ctx, `DELETE FROM undos WHERE account = $1`, int64(row.ID)); err != nil {
		return err
	}
	for i := range row.Undos {
		const insert = `INSERT INTO undos (email, account) VALUES ($1, $2)`
		if _, err := tx.ExecContext(ctx, insert, row.Undos[i].Email, int64(row.ID)); err != nil {
			return err
		}
	}
	return nil
}

// UseStep stores the last time step whose code was accepted. first is false if this step
// or a later one was used before.
func (s *Store) UseStep(ctx context.Context, id bourse.AccountID, step int64) (first bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE accounts SET totp_step = $1 WHERE id = $2 AND totp_step < $1`,
			step, int64(id))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		first = n == 1
		return err
	})
	return first, err
}

// undo is an account.Undo in JSON.
type undo struct {
	Email    string      `json:"email"`
	Code     []byte      `json:"code"`
	Expires  bourse.Time `json:"expires"`
	TOTP     []byte      `json:"totp,omitempty"`
	TOTPUsed bool        `json:"totp_used"`
	Passkeys []passkey   `json:"passkeys,omitempty"`
}

// writePerson returns the structured columns of a person: undos and passkeys.
func writePerson(row *account.AccountRow) (undos, passkeys string, err error) {
	list := make([]undo, len(row.Undos))
	for i := range row.Undos {
		u := &row.Undos[i]
		list[i] = undo{u.Email, u.Code[:], u.Expires, u.TOTP, u.TOTPUsed, writePasskeys(u.Passkeys)}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", "", fmt.Errorf("ways back to old addresses: %w", err)
	}
	keys, err := json.Marshal(writePasskeys(row.Passkeys))
	if err != nil {
		return "", "", fmt.Errorf("passkeys: %w", err)
	}
	return string(text), string(keys), nil
}

func readUndos(text string) ([]account.Undo, error) {
	var undos []undo
	if err := json.Unmarshal([]byte(text), &undos); err != nil {
		return nil, fmt.Errorf("ways back to old addresses: %w: %w", sqlstore.ErrDamaged, err)
	}
	var list []account.Undo
	for _, u := range undos {
		one := account.Undo{
			Email: u.Email, Expires: u.Expires, TOTP: u.TOTP, TOTPUsed: u.TOTPUsed, Passkeys: readPasskeys(u.Passkeys),
		}
		copy(one.Code[:], u.Code)
		list = append(list, one)
	}
	return list, nil
}

// noCases is a value that no row ever had.
const noCases account.Cases = 0xff

// readPerson parses the structured columns of a person. A malformed one makes the row
// unknown to the journal.
func readPerson(row *account.AccountRow, cases, undos, passkeys string) {
	var err error
	if row.Cases, err = account.ParseCases(cases); err != nil {
		row.Cases = noCases
	}
	if row.Undos, err = readUndos(undos); err != nil {
		row.Cases = noCases
	}
	var list []passkey
	if err := json.Unmarshal([]byte(passkeys), &list); err != nil {
		row.Cases = noCases
	}
	row.Passkeys = readPasskeys(list)
}

// UndosOf returns the accounts that can be returned to an old e-mail address.
func (s *Store) UndosOf(ctx context.Context, email string) (ids []bourse.AccountID, err error) {
	err = s.each(ctx, `SELECT account FROM undos WHERE email = $1`, []any{email}, func(r *sql.Rows) error {
		var id bourse.AccountID
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}
