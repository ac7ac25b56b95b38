-- +goose Up
-- Old addresses of accounts, and what their holders need to take a change back.
CREATE TABLE undos (
	account   INTEGER NOT NULL,
	email     TEXT    NOT NULL,
	-- A MAC of the code that was mailed, under a key that is not in this database.
	code      BLOB    NOT NULL CHECK (length(code) = 32),
	expires   INTEGER NOT NULL,
	-- The second factor at the time of the change, as in accounts.
	totp      BLOB,
	totp_used INTEGER NOT NULL,
	PRIMARY KEY (account, email)
) STRICT, WITHOUT ROWID;

CREATE INDEX undos_by_email ON undos (email);

-- From where somebody logged in to an account, without a walk through what strangers
-- did wrong.
CREATE INDEX activity_log_ins ON activity (account, id) WHERE kind = 'LOGIN';
