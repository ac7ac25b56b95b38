-- +goose Up
-- Which news of its money an account wants in its pages and by mail: words, with commas between them.
CREATE TABLE tellings (
	account INTEGER PRIMARY KEY,
	page    TEXT NOT NULL,
	mail    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
