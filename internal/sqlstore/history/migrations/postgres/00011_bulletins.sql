-- +goose Up
-- What webhooks deliver: an area and a name as kind, and a JSON object.
CREATE TABLE bulletins (
	seq   bigint           NOT NULL,
	place bigint           NOT NULL,
	time  bigint           NOT NULL,
	kind  text COLLATE "C" NOT NULL,
	data  text COLLATE "C" NOT NULL,
	PRIMARY KEY (seq, place)
);

CREATE VIEW bulletins_v1 AS
	SELECT seq, place, moment(time) AS said_at, kind, data::json AS data FROM bulletins;
COMMENT ON VIEW bulletins_v1 IS 'What webhooks deliver';
COMMENT ON COLUMN bulletins_v1.place IS 'Counts the bulletins of the command from zero';
