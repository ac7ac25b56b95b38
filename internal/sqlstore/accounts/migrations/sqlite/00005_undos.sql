-- +goose Up
-- Old addresses of an account, and what their holders need to take a change back: a
-- JSON array, oldest first. A code is a MAC under a key that is not in this database.
ALTER TABLE accounts ADD COLUMN undos TEXT NOT NULL DEFAULT '[]';

-- Which accounts to ask for a way back to an address.
CREATE TABLE undos (
	email   TEXT NOT NULL,
	account INTEGER NOT NULL,
	PRIMARY KEY (email, account)
) STRICT, WITHOUT ROWID;

CREATE INDEX undos_of_account ON undos (account);

-- What the rows of people are to become, written before the journal decides. A new
-- address is reserved by a pending account whose token is the salt.
CREATE TABLE person_changes (
	salt     BLOB NOT NULL PRIMARY KEY CHECK (length(salt) = 16),
	id       INTEGER NOT NULL,
	email    TEXT NOT NULL,
	password TEXT NOT NULL,
	totp     BLOB,
	totp_used INTEGER NOT NULL,
	cases    TEXT NOT NULL,
	undos    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- From where somebody logged in to an account, without a walk through what strangers
-- did wrong.
CREATE INDEX activity_log_ins ON activity (account, id) WHERE kind = 'LOGIN';
