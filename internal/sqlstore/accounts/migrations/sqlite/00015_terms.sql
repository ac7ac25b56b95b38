-- +goose Up
-- The versions of the terms that accounts have accepted, when, and from which address.
CREATE TABLE accepted_terms (
	account INTEGER NOT NULL,
	version TEXT NOT NULL,
	time    INTEGER NOT NULL,
	address TEXT NOT NULL,
	PRIMARY KEY (account, version)
) STRICT, WITHOUT ROWID;
