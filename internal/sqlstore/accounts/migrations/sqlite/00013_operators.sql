-- +goose Up
-- Who works for the exchange. The journal has the token and a digest of the row.
CREATE TABLE operators (
	token      BLOB    NOT NULL PRIMARY KEY,
	email      TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	credential BLOB    NOT NULL,
	public_key BLOB    NOT NULL,
	synced     INTEGER NOT NULL,
	salt       BLOB    NOT NULL,
	created    INTEGER NOT NULL,
	-- The passkey's count of signatures and its last use change with each use: no part of the digest.
	counter    INTEGER NOT NULL,
	used       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Who may become an operator. Of the code there is a hash.
CREATE TABLE operator_invitations (
	code    BLOB    NOT NULL PRIMARY KEY,
	email   TEXT    NOT NULL UNIQUE,
	name    TEXT    NOT NULL,
	-- The operator who invited; 0 for who has the machine.
	inviter INTEGER NOT NULL,
	role    TEXT    NOT NULL CHECK (role IN ('viewer', 'operator', 'owner')),
	reason  TEXT    NOT NULL,
	expires INTEGER NOT NULL
) STRICT;
