-- +goose Up
-- Times are microseconds since 1970. A row is pending while its id is null.
CREATE TABLE accounts (
	token   bytea            NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      bigint UNIQUE,
	email   text COLLATE "C" NOT NULL UNIQUE,
	created bigint           NOT NULL,
	-- Chance that goes into the digest of the row that the journal has.
	salt    bytea            NOT NULL CHECK (length(salt) = 16)
);

CREATE TABLE keys (
	token   bytea            NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      bigint UNIQUE,
	account bigint           NOT NULL,
	name    text COLLATE "C" NOT NULL,
	-- SHA-256 of the secret.
	hash    bytea            NOT NULL UNIQUE CHECK (length(hash) = 32),
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
	salt    bytea            NOT NULL CHECK (length(salt) = 16)
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
