-- +goose Up
-- The passkeys of an account, and of what its row is to become: a JSON array, oldest first.
ALTER TABLE accounts ADD COLUMN passkeys text COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE person_changes ADD COLUMN passkeys text COLLATE "C" NOT NULL DEFAULT '[]';

-- The last use of a passkey, and its count of signatures then.
CREATE TABLE passkey_uses (
	account    bigint NOT NULL,
	credential bytea  NOT NULL,
	counter    bigint NOT NULL,
	last_used  bigint NOT NULL,
	PRIMARY KEY (account, credential)
);

-- From where a session began.
ALTER TABLE sessions ADD COLUMN address text COLLATE "C" NOT NULL DEFAULT '';
