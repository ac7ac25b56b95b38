-- +goose Up
-- Times are microseconds since 1970; sides, types and the like are the numbers
-- of the vocabulary; an amount is 2^64 times its hi plus its lo, and lo is the
-- two's complement of what does not fit a signed column.

-- How far the store has come: one row.
CREATE TABLE cursor (
	one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
	seq   INTEGER NOT NULL,
	time  INTEGER NOT NULL,
	chain BLOB    NOT NULL CHECK (length(chain) = 32)
) STRICT;
INSERT INTO cursor VALUES (1, 0, 0, zeroblob(32));

-- Orders that reached their final status. An account's orders have ids in the order of
-- their ordinals: one is found by halving, and an index of ids would cost with every row.
CREATE TABLE orders (
	account   INTEGER NOT NULL,
	ordinal   INTEGER NOT NULL,
	id        INTEGER NOT NULL,
	market    INTEGER NOT NULL,
	side      INTEGER NOT NULL,
	type      INTEGER NOT NULL,
	tif       INTEGER NOT NULL,
	selftrade INTEGER NOT NULL,
	postonly  INTEGER NOT NULL,
	price     INTEGER NOT NULL,
	stop      INTEGER NOT NULL,
	lots      INTEGER NOT NULL,
	total_hi  INTEGER NOT NULL,
	total_lo  INTEGER NOT NULL,
	client_id TEXT,
	status    INTEGER NOT NULL,
	triggered INTEGER NOT NULL,
	amended   INTEGER NOT NULL,
	list      INTEGER NOT NULL,
	time      INTEGER NOT NULL,
	filled    INTEGER NOT NULL,
	prevented INTEGER NOT NULL,
	seq       INTEGER NOT NULL,
	closed    INTEGER NOT NULL,
	PRIMARY KEY (account, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX orders_by_market ON orders (account, market, ordinal, seq);
CREATE INDEX orders_by_client_id ON orders (account, client_id, ordinal) WHERE client_id IS NOT NULL;

-- Trades as the public sees them.
CREATE TABLE trades (
	market     INTEGER NOT NULL,
	number     INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	time       INTEGER NOT NULL,
	taker_side INTEGER NOT NULL,
	price      INTEGER NOT NULL,
	lots       INTEGER NOT NULL,
	total_hi   INTEGER NOT NULL,
	total_lo   INTEGER NOT NULL,
	PRIMARY KEY (market, number)
) STRICT, WITHOUT ROWID;

-- Each account's side of a trade.
CREATE TABLE fills (
	account  INTEGER NOT NULL,
	ordinal  INTEGER NOT NULL,
	order_id INTEGER NOT NULL,
	market   INTEGER NOT NULL,
	trade    INTEGER NOT NULL,
	seq      INTEGER NOT NULL,
	time     INTEGER NOT NULL,
	side     INTEGER NOT NULL,
	role     INTEGER NOT NULL,
	price    INTEGER NOT NULL,
	lots     INTEGER NOT NULL,
	total_hi INTEGER NOT NULL,
	total_lo INTEGER NOT NULL,
	fee_hi   INTEGER NOT NULL,
	fee_lo   INTEGER NOT NULL,
	PRIMARY KEY (account, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX fills_by_market ON fills (account, market, ordinal);
CREATE INDEX fills_by_order ON fills (order_id);

-- A transfer is here once for each of its accounts.
CREATE TABLE transfers (
	account      INTEGER NOT NULL,
	seq          INTEGER NOT NULL,
	place        INTEGER NOT NULL,
	time         INTEGER NOT NULL,
	kind         INTEGER NOT NULL,
	from_account INTEGER NOT NULL,
	to_account   INTEGER NOT NULL,
	asset        INTEGER NOT NULL,
	amount_hi    INTEGER NOT NULL,
	amount_lo    INTEGER NOT NULL,
	PRIMARY KEY (account, seq, place)
) STRICT, WITHOUT ROWID;

-- Changes of the terms of orders while they were open.
CREATE TABLE amendments (
	account    INTEGER NOT NULL,
	order_id   INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	time       INTEGER NOT NULL,
	from_price INTEGER NOT NULL,
	from_lots  INTEGER NOT NULL,
	to_price   INTEGER NOT NULL,
	to_lots    INTEGER NOT NULL,
	PRIMARY KEY (account, order_id, seq)
) STRICT, WITHOUT ROWID;

-- What operators asked for.
CREATE TABLE notes (
	seq      INTEGER NOT NULL PRIMARY KEY,
	time     INTEGER NOT NULL,
	operator INTEGER NOT NULL,
	text     TEXT    NOT NULL
) STRICT;

-- Candles, folded from the trades; a width is in microseconds.
CREATE TABLE candles (
	market    INTEGER NOT NULL,
	width     INTEGER NOT NULL,
	start     INTEGER NOT NULL,
	open      INTEGER NOT NULL,
	high      INTEGER NOT NULL,
	low       INTEGER NOT NULL,
	close     INTEGER NOT NULL,
	volume_hi INTEGER NOT NULL,
	volume_lo INTEGER NOT NULL,
	value_hi  INTEGER NOT NULL,
	value_lo  INTEGER NOT NULL,
	bought_hi INTEGER NOT NULL,
	bought_lo INTEGER NOT NULL,
	spent_hi  INTEGER NOT NULL,
	spent_lo  INTEGER NOT NULL,
	first     INTEGER NOT NULL,
	last      INTEGER NOT NULL,
	PRIMARY KEY (market, width, start)
) STRICT, WITHOUT ROWID;

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
	-- The other account of a transfer, and the token of its message.
	party     INTEGER NOT NULL,
	message   BLOB NOT NULL CHECK (length(message) = 16),
	PRIMARY KEY (account, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX movements_by_id ON movements (id);

-- Every change of every balance.
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
