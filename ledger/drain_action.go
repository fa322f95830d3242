package ledger

import (
	"encoding/json"

	"github.com/waitroom/waitroom/room"
)

// action writes support's action at the end of the room's chain, with the seller of its place or lease.
func (w *work) action(rec record) error {
	r := rec.Record
	c := &chained{Room: string(w.id), Epoch: rec.epoch, Entry: rec.entry, N: rec.n, At: r.At, Who: plain(r.Who),
		Action: plain(r.Action),
		reason: plain(r.Reason), Ticket: r.Ticket, Fence: r.Fence, MessageID: plain(r.MessageID),
		Detail: actionDetail(r).text(), Address: plain(r.Address)}
	err := w.Row(`SELECT COALESCE(NULLIF($4, ''), (SELECT l.seller FROM leases l WHERE l.room = $1
		AND l.fence = $3),
		(SELECT p.seller FROM places p WHERE p.room = $1 AND p.epoch = $2 AND p.ticket = $5), '')`,
		c.Room, c.Epoch, c.Fence, plain(r.Seller), c.Ticket).Scan(&c.seller)
	if err == nil {
		err = w.chain(c)
	}
	if err != nil {
		return err
	}
	_, err = w.Exec(`INSERT INTO actions (room, epoch, entry, n, at, who, action, reason, ticket, fence,
		message_id, seller, seq, salt, texts, prev, hash, detail, address)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		c.Room, c.Epoch, c.Entry, c.N, c.At, c.Who, c.Action, c.reason, c.Ticket, c.Fence, c.MessageID, c.seller,
		c.Seq, c.salt, c.Texts, c.Prev, c.hash, c.Detail, c.Address)
	return err
}

// ActionDetail is the part of an action that has no column. Zero fields do not apply, or are not known.
type ActionDetail struct {
	Seconds int64  `json:"seconds,omitempty"` // by how much the lease was extended
	From    int    `json:"from,omitempty"`    // position before a move, from 1 = next
	To      int    `json:"to,omitempty"`      // position after it
	Text    string `json:"text,omitempty"`    // of an announcement
	Until   int64  `json:"until,omitempty"`   // when the effect ends, in unix ms
}

func actionDetail(r room.Record) ActionDetail {
	return ActionDetail{Seconds: r.Seconds, From: r.FromPosition, To: r.ToPosition,
		Text: plain(r.Text), Until: r.Until}
}

// text returns the detail as the database has it; "" for none, as in older rows.
func (d ActionDetail) text() string {
	if d == (ActionDetail{}) {
		return ""
	}
	b, err := json.Marshal(d)
	if err != nil {
		return "" // such a struct always marshals
	}
	return string(b)
}

// Scan reads the output of text. What is not JSON was edited and counts as nothing; the audit's hash chain
// shows the edit.
func (d *ActionDetail) Scan(value any) error {
	*d = ActionDetail{}
	switch text := value.(type) {
	case string:
		_ = json.Unmarshal([]byte(text), d)
	case []byte:
		_ = json.Unmarshal(text, d)
	}
	return nil
}
