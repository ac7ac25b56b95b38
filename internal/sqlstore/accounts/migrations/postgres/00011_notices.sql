-- +goose Up
-- What operators tell everybody. Ids are never given twice: clients remember the last one
-- that a person saw. A notice is live while ended is zero.
CREATE TABLE notices (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind    text COLLATE "C" NOT NULL CHECK (kind IN ('banner', 'popup', 'announcement')),
	title   text COLLATE "C" NOT NULL,
	body    text COLLATE "C" NOT NULL,
	created bigint NOT NULL,
	ended   bigint NOT NULL DEFAULT 0
);

CREATE INDEX notices_live ON notices (id) WHERE ended = 0;
