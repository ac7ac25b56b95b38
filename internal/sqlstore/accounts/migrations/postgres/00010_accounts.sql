-- +goose Up
-- Times are microseconds since 1970. A row is pending while its id is null.
CREATE TABLE accounts (
	token   bytea            NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      bigint UNIQUE,
	email   text COLLATE "C" NOT NULL UNIQUE,
	created bigint           NOT NULL,
	-- Chance that goes into the digest of the row that the journal has.
	salt    bytea            NOT NULL CHECK (length(salt) = 16),
	-- How a person gets in. The password is an argon2id hash, empty for an account
	-- that nobody logs in to.
	password text COLLATE "C" NOT NULL DEFAULT '',
	-- The secret of the authenticator application, sealed with a key that is not in
	-- this database; null if there is none.
	totp bytea,
	-- Whether codes come from the application; otherwise they come by e-mail.
	totp_used boolean NOT NULL DEFAULT false,
	-- The last time step whose code was taken.
	totp_step bigint NOT NULL DEFAULT 0,
	-- What a second factor is asked for: a list like LOGIN,WITHDRAWAL.
	cases text COLLATE "C" NOT NULL DEFAULT '',
	-- Old addresses of an account, and what their holders need to take a change back: a
	-- JSON array, oldest first. A code is a MAC under a key that is not in this database.
	undos text COLLATE "C" NOT NULL DEFAULT '[]'
);

CREATE TABLE keys (
	token   bytea            NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      bigint UNIQUE,
	account bigint           NOT NULL,
	name    text COLLATE "C" NOT NULL,
	-- SHA-256 of the secret, or of the id of a key that signs.
	hash    bytea            NOT NULL UNIQUE CHECK (length(hash) = 32),
	-- secret, hmac or ed25519.
	kind    text COLLATE "C" NOT NULL,
	-- What proves signatures: the secret of an hmac key, sealed with a key that is not in
	-- this database, or the public key of an ed25519 one; null for other keys.
	material bytea,
	-- A list like read,trade.
	scopes  text COLLATE "C" NOT NULL,
	-- A list of networks like 192.0.2.0/24,2001:db8::/32; empty for anywhere.
	addresses text COLLATE "C" NOT NULL,
	-- Zero for never.
	expires bigint           NOT NULL,
	created bigint           NOT NULL,
	-- Zero while it is good.
	revoked bigint           NOT NULL DEFAULT 0,
	-- Chance that goes into the digest of the row that the journal has.
	salt    bytea            NOT NULL CHECK (length(salt) = 16),
	last_used bigint NOT NULL DEFAULT 0,
	-- The Idempotency-Key under which it was asked for, and what was asked for.
	idempotency text COLLATE "C" NOT NULL DEFAULT '',
	request bytea
);

-- What keys are to become, written before the journal decides.
CREATE TABLE key_changes (
	salt    bytea            NOT NULL PRIMARY KEY CHECK (length(salt) = 16),
	id      bigint           NOT NULL,
	name    text COLLATE "C" NOT NULL,
	scopes  text COLLATE "C" NOT NULL,
	addresses text COLLATE "C" NOT NULL,
	expires bigint           NOT NULL
);

CREATE INDEX keys_of_account ON keys (account, id);
CREATE UNIQUE INDEX keys_by_idempotency ON keys (account, idempotency) WHERE idempotency <> '';

-- Names of saved addresses. A row is pending while its id is null.
CREATE TABLE address_names (
	token   bytea            NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      bigint UNIQUE,
	account bigint           NOT NULL,
	network integer          NOT NULL,
	name    text COLLATE "C" NOT NULL,
	UNIQUE (account, network, name)
);

CREATE TABLE sessions (
	id      bigint NOT NULL PRIMARY KEY,
	account bigint NOT NULL,
	-- SHA-256 of the secret.
	hash    bytea  NOT NULL UNIQUE CHECK (length(hash) = 32),
	-- What the client said it is.
	agent   text COLLATE "C" NOT NULL,
	created bigint NOT NULL,
	expires bigint NOT NULL,
	last_used bigint NOT NULL,
	-- Chance that goes into the digest of the row that the journal has.
	salt    bytea  NOT NULL CHECK (length(salt) = 16)
);

-- What happened to an account, as its holder reads it.
CREATE TABLE activity (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	account bigint NOT NULL,
	time    bigint NOT NULL,
	kind    text COLLATE "C" NOT NULL,
	address text COLLATE "C" NOT NULL,
	agent   text COLLATE "C" NOT NULL,
	detail  text COLLATE "C" NOT NULL
);

CREATE INDEX activity_of_account ON activity (account, id);

-- What customers wrote to transfers. The journal has the token.
CREATE TABLE messages (
	token  bytea  NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	sender bigint NOT NULL,
	text   text COLLATE "C" NOT NULL
);

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
