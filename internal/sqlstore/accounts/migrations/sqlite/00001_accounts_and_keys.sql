-- +goose Up
-- Times are microseconds since 1970. A row is pending while its id is null.
CREATE TABLE accounts (
	token   BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      INTEGER UNIQUE,
	email   TEXT    NOT NULL UNIQUE,
	created INTEGER NOT NULL,
	-- Chance that goes into the digest of the row that the journal has.
	salt    BLOB    NOT NULL CHECK (length(salt) = 16)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
	token   BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      INTEGER UNIQUE,
	account INTEGER NOT NULL,
	name    TEXT    NOT NULL,
	-- SHA-256 of the secret.
	hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
	-- A list like read,trade.
	scopes  TEXT    NOT NULL,
	-- A list of networks like 192.0.2.0/24,2001:db8::/32; empty for anywhere.
	addresses TEXT  NOT NULL,
	-- Zero for never.
	expires INTEGER NOT NULL,
	created INTEGER NOT NULL,
	-- Zero while it is good.
	revoked INTEGER NOT NULL DEFAULT 0,
	-- Chance that goes into the digest of the row that the journal has.
	salt    BLOB    NOT NULL CHECK (length(salt) = 16)
) STRICT, WITHOUT ROWID;

-- What keys are to become, written before the journal decides.
CREATE TABLE key_changes (
	salt    BLOB    NOT NULL PRIMARY KEY CHECK (length(salt) = 16),
	id      INTEGER NOT NULL,
	name    TEXT    NOT NULL,
	scopes  TEXT    NOT NULL,
	addresses TEXT  NOT NULL,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_of_account ON keys (account, id);
