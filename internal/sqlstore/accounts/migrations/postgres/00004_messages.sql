-- +goose Up
-- What customers wrote to transfers. The journal has the token.
CREATE TABLE messages (
	token  bytea  NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	sender bigint NOT NULL,
	text   text COLLATE "C" NOT NULL
);
