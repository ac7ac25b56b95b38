-- +goose Up
-- The highest incarnation of the exchange that wrote here, in the row 1: lower ones write no more.
CREATE TABLE fence (
	one         bigint PRIMARY KEY CHECK (one = 1),
	incarnation bigint NOT NULL
);
