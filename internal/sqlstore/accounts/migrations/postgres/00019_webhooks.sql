-- +goose Up
-- Where bulletins are delivered to, and how far. The secret is sealed; failing and disabled
-- are times, or zero.
CREATE TABLE webhooks (
	id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	url       text COLLATE "C" NOT NULL,
	kinds     text COLLATE "C" NOT NULL,
	sealed    bytea  NOT NULL,
	created   bigint NOT NULL,
	seq       bigint NOT NULL,
	place     bigint NOT NULL,
	delivered bigint NOT NULL DEFAULT 0,
	failing   bigint NOT NULL DEFAULT 0,
	disabled  bigint NOT NULL DEFAULT 0,
	cause     text COLLATE "C" NOT NULL DEFAULT ''
);
