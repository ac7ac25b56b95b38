-- +goose Up
-- Names of saved addresses. A row is pending while its id is null.
CREATE TABLE address_names (
	token   BLOB    NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      INTEGER UNIQUE,
	account INTEGER NOT NULL,
	network INTEGER NOT NULL,
	name    TEXT    NOT NULL,
	UNIQUE (account, network, name)
) STRICT, WITHOUT ROWID;
