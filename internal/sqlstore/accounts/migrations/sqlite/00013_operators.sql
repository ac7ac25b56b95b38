-- +goose Up
-- Who works for the exchange. The journal has the token and a digest of the row.
CREATE TABLE operators (
	token      BLOB    NOT NULL PRIMARY KEY,
	email      TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	credential BLOB    NOT NULL,
	public_key BLOB    NOT NULL,
	salt       BLOB    NOT NULL,
	created    INTEGER NOT NULL
) STRICT;

-- Who may become an operator. Of the code there is a hash.
CREATE TABLE operator_invitations (
	code    BLOB    NOT NULL PRIMARY KEY,
	email   TEXT    NOT NULL UNIQUE,
	name    TEXT    NOT NULL,
	role    TEXT    NOT NULL CHECK (role IN ('viewer', 'operator', 'owner')),
	reason  TEXT    NOT NULL,
	expires INTEGER NOT NULL
) STRICT;
