-- +goose Up
-- Which trace a task goes on in, as package outbox has it; '': none.
ALTER TABLE outbox_tasks ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
