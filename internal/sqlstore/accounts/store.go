package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// Store is an account.Store in a database.
type Store struct {
	db sqlstore.Database
	fence
}

// Open opens the store in a file or at the URL of a PostgreSQL database, and creates it
// if missing. The errors are those of package sqlstore.
func Open(ctx context.Context, place string) (*Store, error) {
	open, share := openFile, ""
	if sqlstore.IsURL(place) {
		open, share = openServer, " FOR SHARE"
	}
	db, err := open(ctx, place)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, fence: fence{share: share}}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Reach pings the database.
func (s *Store) Reach(ctx context.Context) error { return s.db.Wrap(s.db.Reads().PingContext(ctx)) }

// AddAccount adds a pending account.
func (s *Store) AddAccount(ctx context.Context, row *account.AccountRow) error {
	const insert = `INSERT INTO accounts (token, email, created, password, cases, salt) VALUES ($1, $2, $3, $4, $5, $6)`
	err := s.exec(ctx, insert, row.Token[:], row.Email, int64(row.Created), row.Password, row.Cases.String(),
		row.Salt[:])
	if s.db.IsDuplicate(err) {
		return account.ErrTaken
	}
	return err
}

// AddKey adds a pending key.
func (s *Store) AddKey(ctx context.Context, row *account.KeyRow) error {
	const insert = `INSERT INTO keys (token, account, name, hash, kind, material, scopes, addresses, expires, created,
		idempotency, request, salt) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	err := s.exec(ctx, insert, row.Token[:], int64(row.Account), row.Name, row.Hash[:], row.Kind.String(), row.Material,
		row.Scopes.String(), joinAddresses(row.Addresses), int64(row.Expires), int64(row.Created),
		row.Once.String(), row.Request[:], row.Salt[:])
	if s.db.IsDuplicate(err) {
		return account.ErrTaken
	}
	return err
}

// AddName adds a pending name.
func (s *Store) AddName(ctx context.Context, row *account.NameRow) error {
	const insert = `INSERT INTO address_names (token, account, network, name) VALUES ($1, $2, $3, $4)`
	return s.writeName(ctx, insert, row.Token[:], int64(row.Account), int64(row.Network), row.Name)
}

// SetName sets the name of an address book entry.
func (s *Store) SetName(ctx context.Context, row *account.NameRow) error {
	const put = `INSERT INTO address_names (token, id, account, network, name) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (token) DO UPDATE SET id = excluded.id, name = excluded.name`
	return s.writeName(ctx, put, row.Token[:], int64(row.ID), int64(row.Account), int64(row.Network), row.Name)
}

func (s *Store) writeName(ctx context.Context, statement string, args ...any) error {
	err := s.exec(ctx, statement, args...)
	if s.db.IsDuplicate(err) {
		return account.ErrTaken
	}
	return err
}

// Confirm applies the journal's decisions in one transaction.
func (s *Store) Confirm(ctx context.Context, work *account.Decisions) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for token, id := range work.Accounts {
			if err := confirm(ctx, tx, `UPDATE accounts SET id = $1 WHERE token = $2 AND id IS NULL`, token,
				int64(id)); err != nil {
				return err
			}
		}
		for token, id := range work.Keys {
			if err := confirm(ctx, tx, `UPDATE keys SET id = $1 WHERE token = $2 AND id IS NULL`, token,
				int64(id)); err != nil {
				return err
			}
		}

		for id := range work.Changed {
			c := work.Changed[id]
			if err := changeKey(ctx, tx, &c); err != nil {
				return err
			}
		}
		for id, at := range work.Revoked {
			if err := endKey(ctx, tx, id, at); err != nil {
				return err
			}
		}

		if err := confirmPeople(ctx, tx, work); err != nil {
			return err
		}
		if err := confirmNames(ctx, tx, work); err != nil {
			return err
		}
		if err := forget(ctx, tx, work.Lost); err != nil {
			return err
		}
		return drop(ctx, tx, work.Dropped)
	})
}

// endKey marks a key as revoked, and deletes its account's oldest revoked key if there
// are more than account.MostEnded.
func endKey(ctx context.Context, tx *sql.Tx, id bourse.KeyID, at bourse.Time) error {
	const (
		revoke = `UPDATE keys SET revoked = $1 WHERE id = $2 AND revoked = 0`
		beyond = `DELETE FROM keys WHERE account = (SELECT account FROM keys WHERE id = $1) AND revoked <> 0 AND id <=
			(SELECT id FROM keys WHERE account = (SELECT account FROM keys WHERE id = $1) AND revoked <> 0
			ORDER BY id DESC LIMIT 1 OFFSET $2)`
	)
	if _, err := tx.ExecContext(ctx, revoke, int64(at), int64(id)); err != nil {
		return err
	}
	if err := dropChanges(ctx, tx, id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, beyond, int64(id), account.MostEnded)
	return err
}

func confirmNames(ctx context.Context, tx *sql.Tx, work *account.Decisions) error {
	for token, id := range work.Addresses {
		const update = `UPDATE address_names SET id = $1 WHERE token = $2 AND id IS NULL`
		if err := confirm(ctx, tx, update, token, int64(id)); err != nil {
			return err
		}
	}
	for _, id := range work.Forgotten {
		if _, err := tx.ExecContext(ctx, `DELETE FROM address_names WHERE id = $1`, int64(id)); err != nil {
			return err
		}
	}
	return nil
}

func confirm(ctx context.Context, tx *sql.Tx, update string, token bourse.Token, id int64) error {
	_, err := tx.ExecContext(ctx, update, id, token[:])
	return err
}

// forget deletes confirmed accounts and keys, by their tokens.
func forget(ctx context.Context, tx *sql.Tx, tokens []bourse.Token) error {
	for _, token := range tokens {
		for _, remove := range [...]string{`DELETE FROM accounts WHERE token = $1`, `DELETE FROM keys WHERE token = $1`} {
			if _, err := tx.ExecContext(ctx, remove, token[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop deletes pending rows. A row with an id always stays.
func drop(ctx context.Context, tx *sql.Tx, tokens []bourse.Token) error {
	for _, token := range tokens {
		for _, remove := range [...]string{
			`DELETE FROM accounts WHERE token = $1 AND id IS NULL`,
			`DELETE FROM keys WHERE token = $1 AND id IS NULL`,
			`DELETE FROM address_names WHERE token = $1 AND id IS NULL`,
			`DELETE FROM person_changes WHERE salt = $1`,
		} {
			if _, err := tx.ExecContext(ctx, remove, token[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write runs do in a transaction, unless the fence forbids it.
func (s *Store) write(ctx context.Context, do func(*sql.Tx) error) error {
	ctx, cancel := s.db.Patient(ctx)
	defer cancel()
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := s.check(ctx, tx, s.share); err != nil {
			return err
		}
		return do(tx)
	})
}

const selectAccounts = `SELECT token, coalesce(id, 0), email, created, password, totp, totp_used, totp_step, cases, salt, undos,
	passkeys FROM accounts `

// Account returns a confirmed account.
func (s *Store) Account(ctx context.Context, id bourse.AccountID) (account.AccountRow, bool, error) {
	return s.account(ctx, selectAccounts+`WHERE id = $1`, int64(id))
}

// AccountsByID returns the confirmed accounts among ids.
func (s *Store) AccountsByID(ctx context.Context, ids []bourse.AccountID) ([]account.AccountRow, error) {
	var args []any
	return s.accounts(ctx, selectAccounts+`WHERE id IN `+places(&args, numbers(ids)), args...)
}

// numbers returns ids as a database takes them.
func numbers(ids []bourse.AccountID) []int64 {
	list := make([]int64, len(ids))
	for i, id := range ids {
		list[i] = int64(id)
	}
	return list
}

// places appends values to a query's arguments and returns the list of their placeholders. Without values it
// is a list of NULL, which equals nothing.
func places[T any](args *[]any, values []T) string { return "(" + placed(args, values, "%s") + ")" }

// rows appends values to a query's arguments and returns their placeholders as rows of VALUES, each of an SQL type.
// Without values it is a row of NULL.
func rows[T any](args *[]any, of string, values []T) string {
	return placed(args, values, "(CAST(%s AS "+of+"))")
}

// placed appends values to a query's arguments and returns their placeholders in a form.
func placed[T any](args *[]any, values []T, form string) string {
	if len(values) == 0 {
		return fmt.Sprintf(form, "NULL")
	}
	list := make([]string, len(values))
	for i, value := range values {
		*args = append(*args, value)
		list[i] = fmt.Sprintf(form, fmt.Sprintf("$%d", len(*args)))
	}
	return strings.Join(list, ", ")
}

// AccountOf returns the confirmed account of an e-mail address.
func (s *Store) AccountOf(ctx context.Context, email string) (account.AccountRow, bool, error) {
	return s.account(ctx, selectAccounts+`WHERE email = $1 AND id IS NOT NULL`, email)
}

// selectLike reads a range of the index on addresses. The planner cannot use the index on ids for id + 0: it
// would read all accounts by that one.
const selectLike = selectAccounts + `WHERE email >= $1 AND email < $2 AND id + 0 > $3 ORDER BY id + 0 LIMIT $4`

// AccountsLike returns confirmed accounts by the beginning of their address. Addresses are ASCII without
// DEL: one that begins with a text sorts before that text with a DEL appended.
func (s *Store) AccountsLike(
	ctx context.Context, begins string, after bourse.AccountID, limit int,
) ([]account.AccountRow, error) {
	if begins == "" {
		return s.accounts(ctx, selectAccounts+`WHERE id > $1 ORDER BY id LIMIT $2`, int64(after), limit)
	}
	return s.accounts(ctx, selectLike, begins, begins+"\x7f", int64(after), limit)
}

// accounts returns the accounts of a query.
func (s *Store) accounts(ctx context.Context, query string, args ...any) (rows []account.AccountRow, err error) {
	err = s.each(ctx, query, args, func(r *sql.Rows) error {
		row, err := scanAccount(r)
		rows = append(rows, row)
		return err
	})
	return rows, err
}

func (s *Store) account(ctx context.Context, query string, key any) (account.AccountRow, bool, error) {
	row, err := scanAccount(s.db.Reads().QueryRowContext(ctx, query, key))
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, s.db.Wrap(err)
}

// Accounts passes every account to yield.
func (s *Store) Accounts(ctx context.Context, yield func(*account.AccountRow) error) error {
	return s.each(ctx, selectAccounts, nil, func(r *sql.Rows) error {
		row, err := scanAccount(r)
		if err != nil {
			return s.db.Wrap(err)
		}
		return yield(&row)
	})
}

const selectKeys = `SELECT token, coalesce(id, 0), account, name, hash, kind, material, scopes, addresses, expires,
	created, revoked, last_used, idempotency, request, salt FROM keys `

// KeysOf returns an account's confirmed keys.
func (s *Store) KeysOf(ctx context.Context, id bourse.AccountID) ([]account.KeyRow, error) {
	var keys []account.KeyRow
	const of = selectKeys + `WHERE account = $1 AND id IS NOT NULL ORDER BY id`
	err := s.each(ctx, of, []any{int64(id)}, func(r *sql.Rows) error {
		row, err := scanKey(r)
		keys = append(keys, row)
		return err
	})
	return keys, err
}

// Keys passes every key to yield.
func (s *Store) Keys(ctx context.Context, yield func(*account.KeyRow) error) error {
	return s.each(ctx, selectKeys, nil, func(r *sql.Rows) error {
		row, err := scanKey(r)
		if err != nil {
			return err
		}
		return yield(&row)
	})
}

const selectNames = `SELECT token, coalesce(id, 0), account, network, name FROM address_names `

// NamesOf returns an account's confirmed names.
func (s *Store) NamesOf(ctx context.Context, id bourse.AccountID) ([]account.NameRow, error) {
	var names []account.NameRow
	const of = selectNames + `WHERE account = $1 AND id IS NOT NULL ORDER BY id`
	err := s.each(ctx, of, []any{int64(id)}, func(r *sql.Rows) error {
		row, err := scanName(r)
		names = append(names, row)
		return err
	})
	return names, err
}

// Names passes every name to yield.
func (s *Store) Names(ctx context.Context, yield func(*account.NameRow) error) error {
	return s.each(ctx, selectNames, nil, func(r *sql.Rows) error {
		row, err := scanName(r)
		if err != nil {
			return s.db.Wrap(err)
		}
		return yield(&row)
	})
}

func scanName(from scanner) (account.NameRow, error) {
	var row account.NameRow
	var token []byte
	err := from.Scan(&token, &row.ID, &row.Account, &row.Network, &row.Name)
	copy(row.Token[:], token)
	return row, err
}

func (s *Store) each(ctx context.Context, query string, args []any, yield func(*sql.Rows) error) (err error) {
	rows, err := s.db.Reads().QueryContext(ctx, query, args...)
	if err != nil {
		return s.db.Wrap(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := yield(rows); err != nil {
			return err
		}
	}
	return s.db.Wrap(rows.Err())
}

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// scanAccount reads an account. A malformed column makes the row unknown to the journal.
func scanAccount(from scanner) (account.AccountRow, error) {
	var row account.AccountRow
	var token, salt []byte
	var cases, undos, passkeys string
	err := from.Scan(&token, &row.ID, &row.Email, &row.Created, &row.Password,
		&row.TOTP, &row.TOTPUsed, &row.TOTPStep, &cases, &salt, &undos, &passkeys)
	if err != nil {
		return row, err
	}
	copy(row.Token[:], token)
	copy(row.Salt[:], salt)
	readPerson(&row, cases, undos, passkeys)
	return row, nil
}

// scanKey reads a key. Malformed terms become no scopes, and a malformed kind none, which no
// key ever had.
func scanKey(from scanner) (account.KeyRow, error) {
	var row account.KeyRow
	var of int64
	var token, hash, request, salt []byte
	var kind, scopes, addresses, once string
	err := from.Scan(&token, &row.ID, &of, &row.Name, &hash, &kind, &row.Material, &scopes, &addresses,
		&row.Expires, &row.Created, &row.Revoked, &row.Used, &once, &request, &salt)
	if err != nil {
		return row, err
	}
	row.Account = bourse.AccountID(of) // an id out of range matches nothing in the journal
	copy(row.Token[:], token)
	copy(row.Hash[:], hash)
	copy(row.Request[:], request)
	copy(row.Salt[:], salt)
	copy(row.Once[:], once)
	row.Kind = account.KindNamed(kind)
	row.Scopes, row.Addresses = readTerms(scopes, addresses)
	return row, nil
}

// readTerms parses a key's scopes and addresses. Malformed ones become none.
func readTerms(scopes, addresses string) (account.Scopes, []netip.Prefix) {
	may, err := account.ParseScopes(scopes)
	if err != nil {
		return 0, nil
	}
	from, err := splitAddresses(addresses)
	if err != nil {
		return 0, nil
	}
	return may, from
}

func joinAddresses(prefixes []netip.Prefix) string {
	words := make([]string, len(prefixes))
	for i, p := range prefixes {
		words[i] = p.String()
	}
	return strings.Join(words, ",")
}

func splitAddresses(list string) ([]netip.Prefix, error) {
	if list == "" {
		return nil, nil
	}
	return account.ParseAddresses(list)
}
