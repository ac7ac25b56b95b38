-- +goose Up
-- Names of saved addresses. A row is pending while its id is null.
CREATE TABLE address_names (
	token   bytea            NOT NULL PRIMARY KEY CHECK (length(token) = 16),
	id      bigint UNIQUE,
	account bigint           NOT NULL,
	network integer          NOT NULL,
	name    text COLLATE "C" NOT NULL,
	UNIQUE (account, network, name)
);
