-- +goose Up
-- Times are microseconds since 1970. A row is pending while its id is null.
CREATE TABLE accounts (
	token   BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      INTEGER UNIQUE,
	email   TEXT    NOT NULL UNIQUE,
	created INTEGER NOT NULL,
	-- Chance that goes into the digest of the row that the journal has.
	salt    BLOB    NOT NULL CHECK (length(salt) = 16),
	-- How a person gets in. The password is an argon2id hash, empty for an account
	-- that nobody logs in to.
	password TEXT NOT NULL DEFAULT '',
	-- The secret of the authenticator application, sealed with a key that is not in
	-- this database; null if there is none.
	totp BLOB,
	-- One if codes come from the application, zero if they come by e-mail.
	totp_used INTEGER NOT NULL DEFAULT 0,
	-- The last time step whose code was taken.
	totp_step INTEGER NOT NULL DEFAULT 0,
	-- What a second factor is asked for: a list like LOGIN,WITHDRAWAL.
	cases TEXT NOT NULL DEFAULT '',
	-- Old addresses of an account, and what their holders need to take a change back: a
	-- JSON array, oldest first. A code is a MAC under a key that is not in this database.
	undos TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
	token   BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      INTEGER UNIQUE,
	account INTEGER NOT NULL,
	name    TEXT    NOT NULL,
	-- SHA-256 of the secret, or of the id of a key that signs.
	hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
	-- secret, hmac or ed25519.
	kind    TEXT    NOT NULL,
	-- What proves signatures: the secret of an hmac key, sealed with a key that is not in
	-- this database, or the public key of an ed25519 one; null for other keys.
	material BLOB,
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
	salt    BLOB    NOT NULL CHECK (length(salt) = 16),
	last_used INTEGER NOT NULL DEFAULT 0,
	-- The Idempotency-Key under which it was asked for, and what was asked for.
	idempotency TEXT NOT NULL DEFAULT '',
	request BLOB
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
CREATE UNIQUE INDEX keys_by_idempotency ON keys (account, idempotency) WHERE idempotency <> '';

-- Names of saved addresses. A row is pending while its id is null.
CREATE TABLE address_names (
	token   BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      INTEGER UNIQUE,
	account INTEGER NOT NULL,
	network INTEGER NOT NULL,
	name    TEXT    NOT NULL,
	UNIQUE (account, network, name)
) STRICT, WITHOUT ROWID;

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

-- What customers wrote to transfers. The journal has the token.
CREATE TABLE messages (
	token  BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	sender INTEGER NOT NULL,
	text   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

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
