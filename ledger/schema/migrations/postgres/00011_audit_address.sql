-- +goose Up
-- The address from which support acted; '': none, or not known.
ALTER TABLE actions ADD COLUMN address TEXT NOT NULL DEFAULT '';
