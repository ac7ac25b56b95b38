-- +goose Up
-- Which news of its money an account wants in its pages and by mail: words, with commas between them.
CREATE TABLE tellings (
	account bigint PRIMARY KEY,
	page    text COLLATE "C" NOT NULL,
	mail    text COLLATE "C" NOT NULL
);
