-- +goose Up
-- Old addresses of an account, and what their holders need to take a change back: a
-- JSON array, oldest first. A code is a MAC under a key that is not in this database.
ALTER TABLE accounts ADD COLUMN undos text COLLATE "C" NOT NULL DEFAULT '[]';

-- Which accounts to ask for a way back to an address.
CREATE TABLE undos (
	email   text COLLATE "C" NOT NULL,
	account bigint NOT NULL,
	PRIMARY KEY (email, account)
);

CREATE INDEX undos_of_account ON undos (account);

-- What the rows of people are to become, written before the journal decides. A new
-- address is reserved by a pending account whose token is the salt.
CREATE TABLE person_changes (
	salt     bytea NOT NULL PRIMARY KEY CHECK (length(salt) = 16),
	id       bigint NOT NULL,
	email    text COLLATE "C" NOT NULL,
	password text COLLATE "C" NOT NULL,
	totp     bytea,
	totp_used boolean NOT NULL,
	cases    text COLLATE "C" NOT NULL,
	undos    text COLLATE "C" NOT NULL
);

-- From where somebody logged in to an account, without a walk through what strangers
-- did wrong.
CREATE INDEX activity_log_ins ON activity (account, id) WHERE kind = 'LOGIN';
