-- +goose Up
-- What operators tell everybody. Ids are never given twice: clients remember the last one
-- that a person saw. A notice is live while ended is zero.
CREATE TABLE notices (
	id      INTEGER NOT NULL PRIMARY KEY,
	kind    TEXT    NOT NULL CHECK (kind IN ('banner', 'popup', 'announcement')),
	title   TEXT    NOT NULL,
	body    TEXT    NOT NULL,
	created INTEGER NOT NULL,
	ended   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX notices_live ON notices (id) WHERE ended = 0;
