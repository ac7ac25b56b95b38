-- +goose Up
-- Failed attempts of an account are counted apart from its other entries. ordinal counts the entries of each of the two
-- without gaps, so that those beyond the newest ones are a range of the index, and nothing is read to find where it ends.
ALTER TABLE activity ADD COLUMN failed boolean NOT NULL DEFAULT false;
ALTER TABLE activity ADD COLUMN ordinal bigint NOT NULL DEFAULT 0;
UPDATE activity SET failed = kind IN ('LOGIN_FAILED', 'MFA_FAILED');
UPDATE activity SET ordinal = counted.ordinal
	FROM (SELECT id, row_number() OVER (PARTITION BY account, failed ORDER BY id) AS ordinal FROM activity) AS counted
	WHERE counted.id = activity.id;
CREATE INDEX activity_by_count ON activity (account, failed, ordinal);
