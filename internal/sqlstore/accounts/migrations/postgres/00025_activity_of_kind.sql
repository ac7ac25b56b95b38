-- +goose Up
-- The newest entry of an account and kind is the first one of them in this index, however many others there are.
-- By -id, because PostgreSQL may answer an order by id from the primary key, past the entries of all accounts.
CREATE INDEX activity_of_kind ON activity (account, kind, (-id));
-- Log-ins are one of the kinds.
DROP INDEX activity_log_ins;
