-- +goose Up
-- Where bulletins are delivered to, and how far. The secret is sealed; failing and disabled
-- are times, or zero.
CREATE TABLE webhooks (
	id        INTEGER NOT NULL PRIMARY KEY,
	url       TEXT    NOT NULL,
	kinds     TEXT    NOT NULL,
	sealed    BLOB    NOT NULL,
	created   INTEGER NOT NULL,
	seq       INTEGER NOT NULL,
	place     INTEGER NOT NULL,
	delivered INTEGER NOT NULL DEFAULT 0,
	failing   INTEGER NOT NULL DEFAULT 0,
	disabled  INTEGER NOT NULL DEFAULT 0,
	cause     TEXT    NOT NULL DEFAULT ''
) STRICT;
