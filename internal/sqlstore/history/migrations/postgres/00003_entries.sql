-- +goose Up
-- Transfers between accounts, and every change of every balance. What is here does
-- not have them: it is made anew from the journal.
TRUNCATE orders, trades, fills, transfers, notes, candles, movements;
UPDATE cursor SET seq = 0, time = 0, chain = decode(repeat('00', 32), 'hex');

ALTER TABLE movements ADD COLUMN party bigint NOT NULL DEFAULT 0;
ALTER TABLE movements ADD COLUMN message bytea NOT NULL DEFAULT decode(repeat('00', 16), 'hex')
	CHECK (length(message) = 16);

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

CREATE OR REPLACE VIEW movements_v1 AS
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
