package ledger

import "github.com/waitroom/waitroom/room"

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
