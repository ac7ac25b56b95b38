-- +goose Up
-- What customers wrote to transfers. The journal has the token.
CREATE TABLE messages (
	token  BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	sender INTEGER NOT NULL,
	text   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
