-- +goose Up

-- Whose place or lease support acted on; '': nobody's.
ALTER TABLE actions ADD COLUMN seller TEXT NOT NULL DEFAULT '';
UPDATE actions SET seller = COALESCE(
  (SELECT l.seller FROM leases l WHERE l.room = actions.room AND l.fence = actions.fence),
  (SELECT p.seller FROM places p WHERE p.room = actions.room AND p.epoch = actions.epoch AND p.ticket = actions.ticket), '');
UPDATE timeline SET seller = a.seller FROM actions a
  WHERE a.room = timeline.room AND a.epoch = timeline.epoch AND a.entry = timeline.entry AND a.n = timeline.n AND a.seller <> '';

-- The message that was assigned; '': the action was about none.
ALTER TABLE actions ADD COLUMN message_id TEXT NOT NULL DEFAULT '';

-- A seller's story, over rooms too.
DROP INDEX timeline_seller;
CREATE INDEX timeline_story ON timeline (seller, at, room) WHERE seller <> '';

-- The minutes of a room. What these count is in the index.
DROP INDEX places_open;
CREATE INDEX places_open ON places (room, epoch, joined_at, outcome) WHERE outcome IS NULL;
CREATE INDEX places_ended ON places (room, ended_at, outcome, joined_at) WHERE ended_at IS NOT NULL;

-- A seller's places and leases, in the order of the history.
DROP INDEX places_seller;
DROP INDEX leases_seller;
CREATE INDEX places_seller ON places (room, seller, (COALESCE(joined_at, ended_at, 0)));
CREATE INDEX leases_seller ON leases (room, seller, (COALESCE(granted_at, ended_at, 0)));

-- Where a message belongs now, by what was said of it since its first answer (now_by: claimed, assigned or rejected) and
-- agreed to; null: as its first answer says, which a repeat by the carrier gets in any case.
ALTER TABLE messages
  ADD COLUMN now_by     TEXT,
  ADD COLUMN now_result TEXT,
  ADD COLUMN now_reason TEXT,
  ADD COLUMN now_epoch  BIGINT,
  ADD COLUMN now_ticket BIGINT,
  ADD COLUMN now_fence  BIGINT,
  ADD COLUMN now_seller TEXT;
UPDATE messages SET now_by = 'rejected', now_result = 'unmatched', now_reason = 'rejected', now_ticket = 0, now_fence = 0, now_seller = ''
  WHERE (room, message_id) IN (SELECT room, message_id FROM attributions WHERE kind = 'rejected');
UPDATE messages SET now_by = a.kind, now_result = 'matched', now_reason = '', now_epoch = a.epoch, now_ticket = a.ticket,
    now_fence = a.fence, now_seller = a.seller
  FROM attributions a WHERE a.room = messages.room AND a.message_id = messages.message_id
    AND a.kind = 'claimed' AND a.verdict = 'agreed' AND NOT EXISTS (SELECT 1 FROM attributions r
      WHERE r.room = a.room AND r.message_id = a.message_id AND r.kind = 'rejected' AND r.fence = a.fence AND r.at >= a.at);
DROP INDEX messages_seller;
CREATE INDEX messages_seller ON messages (room, (COALESCE(now_seller, seller)), received_at);

-- What a person may have to look at.
CREATE INDEX messages_trouble ON messages (room, received_at)
  WHERE COALESCE(now_result, result) IN ('unmatched', 'late') AND COALESCE(now_by, 'rejected') = 'rejected';
CREATE INDEX incidents_time ON incidents (room, at);

-- What support did.
CREATE INDEX actions_at ON actions (at, room, epoch, entry, n);
CREATE INDEX actions_who ON actions (who, at, room, epoch, entry, n);
CREATE INDEX actions_seller ON actions (room, seller, at);
