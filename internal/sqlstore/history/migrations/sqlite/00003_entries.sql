-- +goose Up
-- Transfers between accounts, and every change of every balance. What is here does
-- not have them: it is made anew from the journal.
DELETE FROM orders;
DELETE FROM trades;
DELETE FROM fills;
DELETE FROM transfers;
DELETE FROM notes;
DELETE FROM candles;
DELETE FROM movements;
UPDATE cursor SET seq = 0, time = 0, chain = zeroblob(32);

ALTER TABLE movements ADD COLUMN party INTEGER NOT NULL DEFAULT 0;
ALTER TABLE movements ADD COLUMN message BLOB NOT NULL DEFAULT x'00000000000000000000000000000000'
	CHECK (length(message) = 16);

CREATE TABLE entries (
	account    INTEGER NOT NULL,
	asset      INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	place      INTEGER NOT NULL,
	time       INTEGER NOT NULL,
	kind       INTEGER NOT NULL,
	debit      INTEGER NOT NULL,
	amount_hi  INTEGER NOT NULL,
	amount_lo  INTEGER NOT NULL,
	balance_hi INTEGER NOT NULL,
	balance_lo INTEGER NOT NULL,
	market     INTEGER NOT NULL,
	trade      INTEGER NOT NULL,
	order_id   INTEGER NOT NULL,
	movement   INTEGER NOT NULL,
	PRIMARY KEY (account, asset, seq, place)
) STRICT, WITHOUT ROWID;
