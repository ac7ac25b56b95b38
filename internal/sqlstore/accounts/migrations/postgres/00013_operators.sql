-- +goose Up
-- Who works for the exchange. The journal has the token and a digest of the row.
CREATE TABLE operators (
	token      bytea            NOT NULL PRIMARY KEY,
	email      text COLLATE "C" NOT NULL,
	name       text COLLATE "C" NOT NULL,
	credential bytea            NOT NULL,
	public_key bytea            NOT NULL,
	synced     boolean          NOT NULL,
	salt       bytea            NOT NULL,
	created    bigint           NOT NULL,
	-- The passkey's count of signatures and its last use change with each use: no part of the digest.
	counter    bigint           NOT NULL,
	used       bigint           NOT NULL DEFAULT 0
);

-- Who may become an operator. Of the code there is a hash.
CREATE TABLE operator_invitations (
	code    bytea            NOT NULL PRIMARY KEY,
	email   text COLLATE "C" NOT NULL UNIQUE,
	name    text COLLATE "C" NOT NULL,
	-- The operator who invited; 0 for who has the machine.
	inviter integer          NOT NULL,
	role    text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'operator', 'owner')),
	reason  text COLLATE "C" NOT NULL,
	expires bigint           NOT NULL
);
