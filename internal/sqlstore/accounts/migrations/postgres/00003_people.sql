-- +goose Up
-- How a person gets in. The password is an argon2id hash, empty for an account
-- that nobody logs in to.
ALTER TABLE accounts ADD COLUMN password text COLLATE "C" NOT NULL DEFAULT '';
-- The secret of the authenticator application, sealed with a key that is not in
-- this database; null if there is none.
ALTER TABLE accounts ADD COLUMN totp bytea;
-- Whether codes come from the application; otherwise they come by e-mail.
ALTER TABLE accounts ADD COLUMN totp_used boolean NOT NULL DEFAULT false;
-- The last time step whose code was taken.
ALTER TABLE accounts ADD COLUMN totp_step bigint NOT NULL DEFAULT 0;
-- What a second factor is asked for: a list like LOGIN,WITHDRAWAL.
ALTER TABLE accounts ADD COLUMN cases text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE keys ADD COLUMN last_used bigint NOT NULL DEFAULT 0;
-- The Idempotency-Key under which it was asked for, and what was asked for.
ALTER TABLE keys ADD COLUMN idempotency text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE keys ADD COLUMN request bytea;
CREATE UNIQUE INDEX keys_by_idempotency ON keys (account, idempotency) WHERE idempotency <> '';

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
