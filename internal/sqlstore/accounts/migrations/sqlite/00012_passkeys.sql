-- +goose Up
-- The passkeys of an account, and of what its row is to become: a JSON array, oldest first.
ALTER TABLE accounts ADD COLUMN passkeys TEXT NOT NULL DEFAULT '[]';
ALTER TABLE person_changes ADD COLUMN passkeys TEXT NOT NULL DEFAULT '[]';

-- The last use of a passkey, and its count of signatures then.
CREATE TABLE passkey_uses (
	account    INTEGER NOT NULL,
	credential BLOB    NOT NULL,
	counter    INTEGER NOT NULL,
	last_used  INTEGER NOT NULL,
	PRIMARY KEY (account, credential)
) STRICT, WITHOUT ROWID;

-- From where a session began.
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
