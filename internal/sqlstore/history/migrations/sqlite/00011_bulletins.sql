-- +goose Up
-- What webhooks deliver: an area and a name as kind, and a JSON object.
CREATE TABLE bulletins (
	seq   INTEGER NOT NULL,
	place INTEGER NOT NULL,
	time  INTEGER NOT NULL,
	kind  TEXT    NOT NULL,
	data  TEXT    NOT NULL,
	PRIMARY KEY (seq, place)
) STRICT, WITHOUT ROWID;
