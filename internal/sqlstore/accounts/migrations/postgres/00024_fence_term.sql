-- +goose Up
-- The term of the incarnation in which a node of a cluster led that wrote here; zero for an exchange on one node.
ALTER TABLE fence ADD COLUMN term bigint NOT NULL DEFAULT 0;
