-- +goose Up
-- Deposits and withdrawals that are over. A row is written again when what is
-- over changes after all.
CREATE TABLE movements (
	account   INTEGER NOT NULL,
	ordinal   INTEGER NOT NULL,
	id        INTEGER NOT NULL,
	seq       INTEGER NOT NULL,
	kind      INTEGER NOT NULL,
	network   INTEGER NOT NULL,
	asset     INTEGER NOT NULL,
	amount_hi INTEGER NOT NULL,
	amount_lo INTEGER NOT NULL,
	fee_hi    INTEGER NOT NULL,
	fee_lo    INTEGER NOT NULL,
	status    INTEGER NOT NULL,
	address   TEXT    NOT NULL,
	-- Whoever paid in chose its bytes.
	memo      BLOB    NOT NULL,
	tx        BLOB    NOT NULL CHECK (length(tx) = 32),
	mined     INTEGER NOT NULL,
	height    INTEGER NOT NULL,
	target    INTEGER NOT NULL,
	other     INTEGER NOT NULL,
	refunded  INTEGER NOT NULL,
	created   INTEGER NOT NULL,
	done      INTEGER NOT NULL,
	PRIMARY KEY (account, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX movements_by_id ON movements (id);
