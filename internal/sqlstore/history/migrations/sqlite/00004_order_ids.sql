-- +goose Up
-- An account's orders have ids in the order of their ordinals: one is found by
-- halving, and an index of ids costs with every row.
DROP INDEX orders_by_id;
