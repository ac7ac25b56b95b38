-- +goose Up
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
		(ARRAY['LIMIT', 'MARKET', 'STOP_LIMIT'])[type] AS type,
		(ARRAY['GTC', 'FOK', 'IOC'])[tif] AS time_in_force,
		postonly = 1 AS post_only,
		nullif(price, 0)::numeric AS price, nullif(stop, 0)::numeric AS stop, nullif(lots, 0)::numeric AS lots,
		nullif(amount(total_hi, total_lo), 0) AS total, filled::numeric AS filled,
		client_id, (ARRAY['OPEN', 'FILLED', 'CANCELED', 'KILLED'])[status] AS status, triggered = 1 AS triggered,
		moment(time) AS accepted_at, moment(closed) AS closed_at, seq
	FROM orders;
COMMENT ON VIEW orders_v1 IS 'Orders that are over; open ones are not in the database';
COMMENT ON COLUMN orders_v1.ordinal IS 'Counts the account''s orders from one, open ones included';
COMMENT ON COLUMN orders_v1.price IS 'In the market''s ticks; null for a MARKET order';
COMMENT ON COLUMN orders_v1.lots IS 'In the market''s lots; null for an order by total';
COMMENT ON COLUMN orders_v1.total IS 'In ledger units of the quote asset; null unless the order was given by total';
COMMENT ON COLUMN orders_v1.filled IS 'How much of it traded, in lots';
COMMENT ON COLUMN orders_v1.seq IS 'The command that ended it';

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
	SELECT account, ordinal, order_id, market, moment(time) AS traded_at, (ARRAY['BUY', 'SELL'])[side] AS side,
		(ARRAY['MAKER', 'TAKER'])[role] AS role, price::numeric AS price, lots::numeric AS lots,
		amount(total_hi, total_lo) AS total, amount(fee_hi, fee_lo) AS fee, seq
	FROM fills;
COMMENT ON VIEW fills_v1 IS 'Each account''s side of a trade';
COMMENT ON COLUMN fills_v1.ordinal IS 'Counts the account''s fills from one';
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
	SELECT id, account, ordinal, (ARRAY['DEPOSIT', 'WITHDRAWAL'])[kind] AS kind, network, asset,
		amount(amount_hi, amount_lo) AS amount, amount(fee_hi, fee_lo) AS fee,
		(ARRAY['PENDING', 'PROCESSING', 'PENDING_CANCEL', 'CANCELED', 'DONE'])[status] AS status,
		nullif(address, '') AS address, nullif(memo, '\x') AS memo,
		nullif(tx, decode(repeat('00', 32), 'hex')) AS tx, mined = 1 AS mined, nullif(height, 0) AS height,
		nullif(other, 0) AS other, refunded = 1 AS refunded, moment(created) AS created_at,
		moment(nullif(done, 0)) AS done_at, seq
	FROM movements;
COMMENT ON VIEW movements_v1 IS 'Deposits and withdrawals that are over; open ones are not in the database';
COMMENT ON COLUMN movements_v1.amount IS 'What arrived, or was to arrive, in ledger units of the asset';
COMMENT ON COLUMN movements_v1.fee IS 'Charged on top, in ledger units of the asset';
COMMENT ON COLUMN movements_v1.memo IS 'Bytes that whoever paid in chose; null for none';
COMMENT ON COLUMN movements_v1.tx IS 'The transaction; null inside the exchange';
COMMENT ON COLUMN movements_v1.other IS 'The other side''s id of a movement inside the exchange';
COMMENT ON COLUMN movements_v1.seq IS 'The command that made it what it is: a row can change';

CREATE VIEW candles_v1 AS
	SELECT market, width * interval '1 microsecond' AS width, moment(start) AS start_at,
		open::numeric AS open, high::numeric AS high, low::numeric AS low, close::numeric AS close,
		amount(volume_hi, volume_lo) AS volume, amount(value_hi, value_lo) AS value, last
	FROM candles;
COMMENT ON VIEW candles_v1 IS 'Candles of a minute, an hour and a day; there are none for times without trades';
COMMENT ON COLUMN candles_v1.open IS 'Prices are in the market''s ticks';
COMMENT ON COLUMN candles_v1.volume IS 'In lots';
COMMENT ON COLUMN candles_v1.value IS 'In ledger units of the quote asset';
COMMENT ON COLUMN candles_v1.last IS 'The number of the last trade in it';

CREATE VIEW notes_v1 AS
	SELECT seq, moment(time) AS noted_at, operator, text FROM notes;
COMMENT ON VIEW notes_v1 IS 'What operators did';
COMMENT ON COLUMN notes_v1.operator IS 'The operator''s user id on the exchange''s machine';
