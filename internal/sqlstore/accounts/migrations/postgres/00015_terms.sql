-- +goose Up
-- The versions of the terms that accounts have accepted, when, and from which address.
CREATE TABLE accepted_terms (
	account bigint NOT NULL,
	version text COLLATE "C" NOT NULL,
	time    bigint NOT NULL,
	address text COLLATE "C" NOT NULL,
	PRIMARY KEY (account, version)
);
