package ledger

import (
	"github.com/waitroom/waitroom/room"
)

// These columns give the lease that a message belongs to now: by the last agreed decision, else by its first
// answer. The indexes repeat these expressions.
const (
	belongsColumns = `COALESCE(now_epoch, epoch), message_id, COALESCE(now_result, result), COALESCE(now_reason,
		reason),
		COALESCE(now_ticket, ticket), COALESCE(now_fence, fence), sent_at, received_at`
	belongsSeller = `COALESCE(now_seller, seller)`

	// unassigned selects messages without a lease, and late ones that were not given to their lease since.
	unassigned = `COALESCE(now_result, result) IN ('unmatched', 'late')
		AND COALESCE(now_by, 'rejected') = 'rejected'`
)

// scanned returns the destinations of belongsColumns.
func (m *MessageRow) scanned() []any {
	return []any{&m.Epoch, &m.MessageID, &m.Result, &m.Reason, &m.Ticket, &m.Fence, &m.SentAt, &m.ReceivedAt}
}

// setBelongs sets the lease that a message was given to.
func (w *work) setBelongs(epoch int64, r room.Record) error {
	result := room.Matched
	if r.Result == room.Late {
		result = room.Late
	}
	_, err := w.Exec(`UPDATE messages SET now_by = $3, now_result = $4, now_reason = '', now_epoch = $5,
		now_ticket = $6,
		now_fence = $7, now_seller = $8 WHERE room = $1 AND message_id = $2`,
		string(w.id), plain(r.MessageID), r.Type, string(result), epoch, r.Ticket, r.Fence, plain(r.Seller))
	return err
}

// setUnassigned removes a rejected message from its lease, unless it was given to that lease since.
func (w *work) setUnassigned(r room.Record) error {
	_, err := w.Exec(`UPDATE messages SET now_by = 'rejected', now_result = 'unmatched',
		now_reason = 'rejected', now_epoch = NULL,
		now_ticket = 0, now_fence = 0, now_seller = ''
		WHERE room = $1 AND message_id = $2 AND COALESCE(now_fence, fence) IN (0, $3) AND NOT EXISTS (SELECT 1
		FROM attributions a
			WHERE a.room = messages.room AND a.message_id = messages.message_id AND `+standing+`)`,
		string(w.id), plain(r.MessageID), r.Fence)
	return err
}
