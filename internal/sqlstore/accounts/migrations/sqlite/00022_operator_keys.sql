-- +goose Up
-- The keys of operators' programs. Of the secret there is a hash; mac vouches for the row, but for id and used.
-- Ids are in the journal's reasons, and never reused.
CREATE TABLE operator_keys (
	id        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	operator  INTEGER NOT NULL,
	name      TEXT    NOT NULL,
	scope     TEXT    NOT NULL CHECK (scope IN ('read', 'operate')),
	addresses TEXT    NOT NULL,
	created   INTEGER NOT NULL,
	expires   INTEGER NOT NULL,
	used      INTEGER NOT NULL DEFAULT 0,
	hash      BLOB    NOT NULL UNIQUE,
	mac       BLOB    NOT NULL
) STRICT;
CREATE INDEX operator_keys_of ON operator_keys (operator);
