-- +goose Up
-- The keys of operators' programs. Of the secret there is a hash; mac vouches for the row, but for id and used.
-- Ids are in the journal's reasons, and never reused.
CREATE TABLE operator_keys (
	id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	operator  integer NOT NULL,
	name      text COLLATE "C" NOT NULL,
	scope     text COLLATE "C" NOT NULL CHECK (scope IN ('read', 'operate')),
	addresses text COLLATE "C" NOT NULL,
	created   bigint NOT NULL,
	expires   bigint NOT NULL,
	used      bigint NOT NULL DEFAULT 0,
	hash      bytea  NOT NULL UNIQUE,
	mac       bytea  NOT NULL
);
CREATE INDEX operator_keys_of ON operator_keys (operator);
