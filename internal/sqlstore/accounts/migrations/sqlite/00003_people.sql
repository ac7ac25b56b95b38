-- +goose Up
-- How a person gets in. The password is an argon2id hash, empty for an account
-- that nobody logs in to.
ALTER TABLE accounts ADD COLUMN password TEXT NOT NULL DEFAULT '';
-- The secret of the authenticator application, sealed with a key that is not in
-- this database; null if there is none.
ALTER TABLE accounts ADD COLUMN totp BLOB;
-- One if codes come from the application, zero if they come by e-mail.
ALTER TABLE accounts ADD COLUMN totp_used INTEGER NOT NULL DEFAULT 0;
-- The last time step whose code was taken.
ALTER TABLE accounts ADD COLUMN totp_step INTEGER NOT NULL DEFAULT 0;
-- What a second factor is asked for: a list like LOGIN,WITHDRAWAL.
ALTER TABLE accounts ADD COLUMN cases TEXT NOT NULL DEFAULT '';

ALTER TABLE keys ADD COLUMN last_used INTEGER NOT NULL DEFAULT 0;
-- The Idempotency-Key under which it was asked for, and what was asked for.
ALTER TABLE keys ADD COLUMN idempotency TEXT NOT NULL DEFAULT '';
ALTER TABLE keys ADD COLUMN request BLOB;
CREATE UNIQUE INDEX keys_by_idempotency ON keys (account, idempotency) WHERE idempotency <> '';

CREATE TABLE sessions (
	id      INTEGER NOT NULL PRIMARY KEY,
	account INTEGER NOT NULL,
	-- SHA-256 of the secret.
	hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
	-- What the client said it is.
	agent   TEXT    NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	last_used INTEGER NOT NULL,
	-- Chance that goes into the digest of the row that the journal has.
	salt    BLOB    NOT NULL CHECK (length(salt) = 16)
) STRICT;

-- What happened to an account, as its holder reads it.
CREATE TABLE activity (
	id      INTEGER NOT NULL PRIMARY KEY,
	account INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	kind    TEXT    NOT NULL,
	address TEXT    NOT NULL,
	agent   TEXT    NOT NULL,
	detail  TEXT    NOT NULL
) STRICT;

CREATE INDEX activity_of_account ON activity (account, id);
