package ledger

// action writes what support did, under the seller whose place or lease it was.
func (w *work) action(note note) error {
	r := note.Record
	_, err := w.Exec(`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence, message_id, seller)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, COALESCE(NULLIF($12, ''),
			(SELECT l.seller FROM leases l WHERE l.room = $1 AND l.fence = $10),
			(SELECT p.seller FROM places p WHERE p.room = $1 AND p.epoch = $2 AND p.ticket = $9), ''))`,
		string(w.id), note.epoch, note.entry, note.n, r.At, plain(r.Who), plain(r.Action), plain(r.Reason), r.Ticket, r.Fence,
		plain(r.MessageID), plain(r.Seller))
	return err
}
