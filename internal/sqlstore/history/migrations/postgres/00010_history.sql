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

-- Orders that reached their final status. An account's orders have ids in the order of
-- their ordinals: one is found by halving, and an index of ids would cost with every row.
CREATE TABLE orders (
	account   bigint   NOT NULL,
	ordinal   bigint   NOT NULL,
	id        bigint   NOT NULL,
	price     bigint   NOT NULL,
	stop      bigint   NOT NULL,
	lots      bigint   NOT NULL,
	total_hi  bigint   NOT NULL,
	total_lo  bigint   NOT NULL,
	list      bigint   NOT NULL,
	time      bigint   NOT NULL,
	filled    bigint   NOT NULL,
	prevented bigint   NOT NULL,
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
	amended   smallint NOT NULL,
	client_id text COLLATE "C",
	PRIMARY KEY (account, ordinal)
);
CREATE INDEX orders_by_market ON orders (account, market, ordinal, seq);
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
	trade    bigint   NOT NULL,
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

-- Changes of the terms of orders while they were open.
CREATE TABLE amendments (
	account    bigint NOT NULL,
	order_id   bigint NOT NULL,
	seq        bigint NOT NULL,
	time       bigint NOT NULL,
	from_price bigint NOT NULL,
	from_lots  bigint NOT NULL,
	to_price   bigint NOT NULL,
	to_lots    bigint NOT NULL,
	PRIMARY KEY (account, order_id, seq)
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
	bought_hi bigint  NOT NULL,
	bought_lo bigint  NOT NULL,
	spent_hi  bigint  NOT NULL,
	spent_lo  bigint  NOT NULL,
	first     bigint  NOT NULL,
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
	-- The other account of a transfer, and the token of its message.
	party     bigint NOT NULL,
	message   bytea NOT NULL CHECK (length(message) = 16),
	PRIMARY KEY (account, ordinal)
);
CREATE INDEX movements_by_id ON movements (id);

-- Every change of every balance.
CREATE TABLE entries (
	account    bigint   NOT NULL,
	seq        bigint   NOT NULL,
	time       bigint   NOT NULL,
	amount_hi  bigint   NOT NULL,
	amount_lo  bigint   NOT NULL,
	balance_hi bigint   NOT NULL,
	balance_lo bigint   NOT NULL,
	trade      bigint   NOT NULL,
	order_id   bigint   NOT NULL,
	movement   bigint   NOT NULL,
	asset      integer  NOT NULL,
	place      integer  NOT NULL,
	market     integer  NOT NULL,
	kind       smallint NOT NULL,
	debit      smallint NOT NULL,
	PRIMARY KEY (account, asset, seq, place)
);

-- What others may read. A view keeps its columns for as long as it has its name;
-- one that must change gets the next number. docs/format/history.md says more.

CREATE FUNCTION amount(hi bigint, lo bigint) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN (hi::numeric + CASE WHEN hi < 0 THEN 18446744073709551616 ELSE 0 END) * 18446744073709551616
		+ lo::numeric + CASE WHEN lo < 0 THEN 18446744073709551616 ELSE 0 END;
COMMENT ON FUNCTION amount IS 'An amount of 128 bits from its two columns';

CREATE FUNCTION moment(microseconds bigint) RETURNS timestamptz
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN timestamptz '1970-01-01 00:00:00+00' + microseconds * interval '1 microsecond';
COMMENT ON FUNCTION moment IS 'A time from microseconds since 1970; null for none';

CREATE VIEW cursor_v1 AS
	SELECT seq, moment(nullif(time, 0)) AS time, encode(chain, 'hex') AS chain FROM cursor;
COMMENT ON VIEW cursor_v1 IS 'How far history has come: everything up to command seq is there';
COMMENT ON COLUMN cursor_v1.chain IS 'Hash of the journal''s frame that ends with seq';

CREATE VIEW orders_v1 AS
	SELECT id, account, ordinal, market,
		(ARRAY['BUY', 'SELL'])[side] AS side,
		(ARRAY['LIMIT', 'MARKET', 'STOP_LIMIT', 'STOP_MARKET', 'TAKE_PROFIT_LIMIT', 'TAKE_PROFIT_MARKET'])[type] AS type,
		(ARRAY['GTC', 'FOK', 'IOC'])[tif] AS time_in_force,
		postonly = 1 AS post_only,
		nullif(price, 0)::numeric AS price, nullif(stop, 0)::numeric AS stop, nullif(lots, 0)::numeric AS lots,
		nullif(amount(total_hi, total_lo), 0) AS total, filled::numeric AS filled,
		client_id, (ARRAY['OPEN', 'FILLED', 'CANCELED', 'KILLED'])[status] AS status, triggered = 1 AS triggered,
		amended = 1 AS amended, moment(time) AS accepted_at, moment(closed) AS closed_at, seq, nullif(list, 0) AS list,
		prevented::numeric AS prevented
	FROM orders;
COMMENT ON VIEW orders_v1 IS 'Orders that are over; open ones are not in the database';
COMMENT ON COLUMN orders_v1.ordinal IS 'Counts the account''s orders from one, open ones included';
COMMENT ON COLUMN orders_v1.price IS 'In the market''s ticks; null for an order without a price, but for the cap of one that buys lots behind a stop';
COMMENT ON COLUMN orders_v1.lots IS 'In the market''s lots; null for an order by total';
COMMENT ON COLUMN orders_v1.total IS 'In ledger units of the quote asset; null unless the order was given by total';
COMMENT ON COLUMN orders_v1.filled IS 'How much of it traded, in lots';
COMMENT ON COLUMN orders_v1.prevented IS 'How much of it self-trade prevention took, in lots';
COMMENT ON COLUMN orders_v1.seq IS 'The command that ended it';
COMMENT ON COLUMN orders_v1.list IS 'The id of its list, which is that of the list''s first order; null for an order without one';

CREATE VIEW amendments_v1 AS
	SELECT account, order_id, seq, moment(time) AS amended_at, from_price::numeric AS from_price,
		from_lots::numeric AS from_lots, to_price::numeric AS to_price, to_lots::numeric AS to_lots
	FROM amendments;
COMMENT ON VIEW amendments_v1 IS 'Changes of the price and the quantity of orders';
COMMENT ON COLUMN amendments_v1.from_price IS 'Prices are in the market''s ticks';
COMMENT ON COLUMN amendments_v1.from_lots IS 'Quantities are in the market''s lots, with what the order had filled and what self-trade prevention took';

CREATE VIEW trades_v1 AS
	SELECT market, number, moment(time) AS traded_at, (ARRAY['BUY', 'SELL'])[taker_side] AS taker_side,
		price::numeric AS price, lots::numeric AS lots, amount(total_hi, total_lo) AS total, seq
	FROM trades;
COMMENT ON VIEW trades_v1 IS 'Trades as the public sees them';
COMMENT ON COLUMN trades_v1.number IS 'Counts the market''s trades from one';
COMMENT ON COLUMN trades_v1.price IS 'In the market''s ticks';
COMMENT ON COLUMN trades_v1.lots IS 'In the market''s lots';
COMMENT ON COLUMN trades_v1.total IS 'In ledger units of the quote asset';

CREATE VIEW fills_v1 AS
	SELECT account, ordinal, order_id, market, trade, moment(time) AS traded_at, (ARRAY['BUY', 'SELL'])[side] AS side,
		(ARRAY['MAKER', 'TAKER'])[role] AS role, price::numeric AS price, lots::numeric AS lots,
		amount(total_hi, total_lo) AS total, amount(fee_hi, fee_lo) AS fee, seq
	FROM fills;
COMMENT ON VIEW fills_v1 IS 'Each account''s side of a trade';
COMMENT ON COLUMN fills_v1.ordinal IS 'Counts the account''s fills from one';
COMMENT ON COLUMN fills_v1.trade IS 'The market''s number of the trade';
COMMENT ON COLUMN fills_v1.price IS 'In the market''s ticks';
COMMENT ON COLUMN fills_v1.lots IS 'In the market''s lots';
COMMENT ON COLUMN fills_v1.total IS 'In ledger units of the quote asset';
COMMENT ON COLUMN fills_v1.fee IS 'In ledger units of what the side received: base for a buyer, quote for a seller';

CREATE VIEW transfers_v1 AS
	SELECT account, seq, place, moment(time) AS moved_at, kind, from_account, to_account, asset,
		amount(amount_hi, amount_lo) AS amount
	FROM transfers;
COMMENT ON VIEW transfers_v1 IS 'Postings outside of trades, once for each of their accounts';
COMMENT ON COLUMN transfers_v1.place IS 'Counts the transfers of one command from zero';
COMMENT ON COLUMN transfers_v1.amount IS 'In ledger units of the asset';

CREATE VIEW movements_v1 AS
	SELECT id, account, ordinal, (ARRAY['DEPOSIT', 'WITHDRAWAL', 'TRANSFER_IN', 'TRANSFER_OUT'])[kind] AS kind,
		network, asset,
		amount(amount_hi, amount_lo) AS amount, amount(fee_hi, fee_lo) AS fee,
		(ARRAY['PENDING', 'PROCESSING', 'PENDING_CANCEL', 'CANCELED', 'DONE'])[status] AS status,
		nullif(address, '') AS address, nullif(memo, '\x') AS memo,
		nullif(tx, decode(repeat('00', 32), 'hex')) AS tx, mined = 1 AS mined, nullif(height, 0) AS height,
		nullif(other, 0) AS other, refunded = 1 AS refunded, moment(created) AS created_at,
		moment(nullif(done, 0)) AS done_at, seq, nullif(party, 0) AS party
	FROM movements;
COMMENT ON VIEW movements_v1 IS 'Deposits, withdrawals and transfers that are over; open ones are not in the database';
COMMENT ON COLUMN movements_v1.network IS '0 for a transfer between accounts';
COMMENT ON COLUMN movements_v1.party IS 'The other account of a transfer';
COMMENT ON COLUMN movements_v1.amount IS 'What arrived, or was to arrive, in ledger units of the asset';
COMMENT ON COLUMN movements_v1.fee IS 'Charged on top, in ledger units of the asset';
COMMENT ON COLUMN movements_v1.memo IS 'Bytes that whoever paid in chose; null for none';
COMMENT ON COLUMN movements_v1.tx IS 'The transaction; null inside the exchange';
COMMENT ON COLUMN movements_v1.other IS 'The other side''s id of a movement inside the exchange';
COMMENT ON COLUMN movements_v1.seq IS 'The command that made it what it is: a row can change';

CREATE VIEW candles_v1 AS
	SELECT market, width * interval '1 microsecond' AS width, moment(start) AS start_at,
		open::numeric AS open, high::numeric AS high, low::numeric AS low, close::numeric AS close,
		amount(volume_hi, volume_lo) AS volume, amount(value_hi, value_lo) AS value,
		amount(bought_hi, bought_lo) AS bought, amount(spent_hi, spent_lo) AS spent, first, last
	FROM candles;
COMMENT ON VIEW candles_v1 IS 'Candles of a minute, an hour and a day; there are none for times without trades';
COMMENT ON COLUMN candles_v1.open IS 'Prices are in the market''s ticks';
COMMENT ON COLUMN candles_v1.volume IS 'In lots';
COMMENT ON COLUMN candles_v1.value IS 'In ledger units of the quote asset';
COMMENT ON COLUMN candles_v1.bought IS 'The part of the volume whose taker was the buyer';
COMMENT ON COLUMN candles_v1.spent IS 'The part of the value whose taker was the buyer';
COMMENT ON COLUMN candles_v1.first IS 'The number of the first trade in it';
COMMENT ON COLUMN candles_v1.last IS 'The number of the last trade in it';

CREATE VIEW notes_v1 AS
	SELECT seq, moment(time) AS noted_at, operator, text FROM notes;
COMMENT ON VIEW notes_v1 IS 'What operators did';
COMMENT ON COLUMN notes_v1.operator IS 'The operator''s user id on the exchange''s machine; 4294967295 for an act, whose text names its operators';

CREATE VIEW entries_v1 AS
	SELECT account, asset, seq, place, moment(time) AS booked_at,
		(ARRAY['TRADE', 'CREDIT', 'DEPOSIT', 'WITHDRAWAL', 'WITHDRAWAL_FEE', 'TRANSFER_IN', 'TRANSFER_OUT', 'REFUND'])[kind] AS kind,
		CASE WHEN debit = 1 THEN -amount(amount_hi, amount_lo) ELSE amount(amount_hi, amount_lo) END AS delta,
		amount(balance_hi, balance_lo) AS balance, nullif(market, 0) AS market, nullif(trade, 0) AS trade,
		nullif(order_id, 0) AS order_id, nullif(movement, 0) AS movement
	FROM entries;
COMMENT ON VIEW entries_v1 IS 'Every change of every balance';
COMMENT ON COLUMN entries_v1.place IS 'Counts the account''s entries of the command from zero';
COMMENT ON COLUMN entries_v1.delta IS 'What came, or went if it is negative, in ledger units of the asset';
COMMENT ON COLUMN entries_v1.balance IS 'What there is after it, held or not, in ledger units of the asset';
COMMENT ON COLUMN entries_v1.movement IS 'Id of the deposit, withdrawal or transfer';
