-- +goose Up
-- Times are microseconds since 1970; sides, types and the like are the numbers
-- of the vocabulary; an amount is 2^64 times its hi plus its lo, and lo is the
-- two's complement of what does not fit a signed column. The widest columns come
-- first, so that rows have no gaps.

-- How far the store has come: one row.
CREATE TABLE cursor (
	one   integer NOT NULL PRIMARY KEY CHECK (one = 1),
	seq   bigint  NOT NULL,
	time  bigint  NOT NULL,
	chain bytea   NOT NULL CHECK (length(chain) = 32)
);
INSERT INTO cursor VALUES (1, 0, 0, decode(repeat('00', 32), 'hex'));

-- Orders that reached their final status.
CREATE TABLE orders (
	account   bigint   NOT NULL,
	ordinal   bigint   NOT NULL,
	id        bigint   NOT NULL,
	price     bigint   NOT NULL,
	stop      bigint   NOT NULL,
	lots      bigint   NOT NULL,
	total_hi  bigint   NOT NULL,
	total_lo  bigint   NOT NULL,
	time      bigint   NOT NULL,
	filled    bigint   NOT NULL,
	seq       bigint   NOT NULL,
	closed    bigint   NOT NULL,
	market    integer  NOT NULL,
	side      smallint NOT NULL,
	type      smallint NOT NULL,
	tif       smallint NOT NULL,
	selftrade smallint NOT NULL,
	postonly  smallint NOT NULL,
	status    smallint NOT NULL,
	triggered smallint NOT NULL,
	client_id text COLLATE "C",
	PRIMARY KEY (account, ordinal)
);
CREATE INDEX orders_by_market ON orders (account, market, ordinal);
CREATE UNIQUE INDEX orders_by_id ON orders (id);
CREATE INDEX orders_by_client_id ON orders (account, client_id, ordinal) WHERE client_id IS NOT NULL;

-- Trades as the public sees them.
CREATE TABLE trades (
	number     bigint   NOT NULL,
	seq        bigint   NOT NULL,
	time       bigint   NOT NULL,
	price      bigint   NOT NULL,
	lots       bigint   NOT NULL,
	total_hi   bigint   NOT NULL,
	total_lo   bigint   NOT NULL,
	market     integer  NOT NULL,
	taker_side smallint NOT NULL,
	PRIMARY KEY (market, number)
);

-- Each account's side of a trade.
CREATE TABLE fills (
	account  bigint   NOT NULL,
	ordinal  bigint   NOT NULL,
	order_id bigint   NOT NULL,
	seq      bigint   NOT NULL,
	time     bigint   NOT NULL,
	price    bigint   NOT NULL,
	lots     bigint   NOT NULL,
	total_hi bigint   NOT NULL,
	total_lo bigint   NOT NULL,
	fee_hi   bigint   NOT NULL,
	fee_lo   bigint   NOT NULL,
	market   integer  NOT NULL,
	side     smallint NOT NULL,
	role     smallint NOT NULL,
	PRIMARY KEY (account, ordinal)
);
CREATE INDEX fills_by_market ON fills (account, market, ordinal);
CREATE INDEX fills_by_order ON fills (order_id);

-- A transfer is here once for each of its accounts.
CREATE TABLE transfers (
	account      bigint   NOT NULL,
	seq          bigint   NOT NULL,
	time         bigint   NOT NULL,
	from_account bigint   NOT NULL,
	to_account   bigint   NOT NULL,
	amount_hi    bigint   NOT NULL,
	amount_lo    bigint   NOT NULL,
	place        integer  NOT NULL,
	asset        integer  NOT NULL,
	kind         smallint NOT NULL,
	PRIMARY KEY (account, seq, place)
);

-- What operators asked for.
CREATE TABLE notes (
	seq      bigint           NOT NULL PRIMARY KEY,
	time     bigint           NOT NULL,
	operator bigint           NOT NULL,
	text     text COLLATE "C" NOT NULL
);

-- Candles, folded from the trades; a width is in microseconds.
CREATE TABLE candles (
	width     bigint  NOT NULL,
	start     bigint  NOT NULL,
	open      bigint  NOT NULL,
	high      bigint  NOT NULL,
	low       bigint  NOT NULL,
	close     bigint  NOT NULL,
	volume_hi bigint  NOT NULL,
	volume_lo bigint  NOT NULL,
	value_hi  bigint  NOT NULL,
	value_lo  bigint  NOT NULL,
	last      bigint  NOT NULL,
	market    integer NOT NULL,
	PRIMARY KEY (market, width, start)
);

-- Deposits and withdrawals that are over. A row is written again when what is
-- over changes after all.
CREATE TABLE movements (
	account   bigint           NOT NULL,
	ordinal   bigint           NOT NULL,
	id        bigint           NOT NULL,
	seq       bigint           NOT NULL,
	amount_hi bigint           NOT NULL,
	amount_lo bigint           NOT NULL,
	fee_hi    bigint           NOT NULL,
	fee_lo    bigint           NOT NULL,
	height    bigint           NOT NULL,
	target    bigint           NOT NULL,
	other     bigint           NOT NULL,
	created   bigint           NOT NULL,
	done      bigint           NOT NULL,
	network   integer          NOT NULL,
	asset     integer          NOT NULL,
	kind      integer          NOT NULL,
	status    integer          NOT NULL,
	mined     smallint         NOT NULL,
	refunded  smallint         NOT NULL,
	address   text COLLATE "C" NOT NULL,
	-- Whoever paid in chose its bytes.
	memo      bytea            NOT NULL,
	tx        bytea            NOT NULL CHECK (length(tx) = 32),
	PRIMARY KEY (account, ordinal)
);
CREATE INDEX movements_by_id ON movements (id);
