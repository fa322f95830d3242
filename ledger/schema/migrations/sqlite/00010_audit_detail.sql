-- +goose Up
-- What an action was beyond its columns, as JSON: seconds of more time, from and to of a move; '': nothing. See action_detail.go.
ALTER TABLE actions ADD COLUMN detail TEXT NOT NULL DEFAULT '';

-- What was done, in all rooms; and in a room, such as who paused it.
CREATE INDEX actions_action ON actions (action, at, room, epoch, entry, n);
CREATE INDEX actions_in_room ON actions (room, action, at);
