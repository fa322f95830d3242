package ledger

import "github.com/waitroom/waitroom/ledger/schema"

// action writes support's action at the end of the room's chain, with the seller of its place or lease.
func (w *work) action(rec record) error {
	r := rec.Record
	c := &schema.Chained{Room: string(w.id), Epoch: rec.epoch, Entry: rec.entry, N: rec.n, At: r.At,
		Who: plain(r.Who), Action: plain(r.Action), Reason: plain(r.Reason),
		Ticket: r.Ticket, Fence: r.Fence, MessageID: plain(r.MessageID),
		Detail: schema.ActionDetailOf(r), Address: plain(r.Address)}
	err := w.Row(`SELECT COALESCE(NULLIF($4, ''), (SELECT l.seller FROM leases l WHERE l.room = $1
		AND l.fence = $3),
		(SELECT p.seller FROM places p WHERE p.room = $1 AND p.epoch = $2 AND p.ticket = $5), '')`,
		c.Room, c.Epoch, c.Fence, plain(r.Seller), c.Ticket).Scan(&c.Seller)
	if err == nil {
		err = c.Append(w.Session)
	}
	if err != nil {
		return err
	}
	_, err = w.Exec(`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence,
		message_id, seller, seq, salt, texts, prev, hash, detail, address)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		c.Room, c.Epoch, c.Entry, c.N, c.At, c.Who, c.Action, c.Reason, c.Ticket, c.Fence, c.MessageID, c.Seller,
		c.Seq, c.Salt, c.Texts, c.Prev, c.Hash, c.Detail, c.Address)
	return err
}
