package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// What is said of a message after its first answer, which stays: a repeat by the carrier gets it.
const (
	claimed  = "claimed"
	rejected = "rejected"
)

// claimed writes that a holder says that an unmatched message is its own, and judges that.
func (w *work) claimed(epoch int64, r room.Record) error {
	if r.MessageID == "" {
		return fmt.Errorf("%w: claim without a message", errOdd)
	}
	verdict, found, err := w.attributed(r)
	if err != nil {
		return err
	}
	if found {
		w.tellAgain(r, verdict == agreed)
		return nil
	}
	why, err := w.objection(r)
	if err != nil {
		return err
	}
	if why != "" {
		if err := w.attribute(epoch, r, claimed, refused); err != nil {
			return err
		}
		return w.refuse(epoch, r, why)
	}
	if err := w.attribute(epoch, r, claimed, agreed); err != nil {
		return err
	}
	err = w.row(`SELECT sent_at FROM messages WHERE room = $1 AND message_id = $2`, string(w.id), plain(r.MessageID)).Scan(&r.SentAt)
	if err != nil && !noRows(err) {
		return err
	}
	return w.agree(epoch, r)
}

// attributed looks up the verdict on a claim.
func (w *work) attributed(r room.Record) (verdict string, found bool, err error) {
	err = w.row(`SELECT verdict FROM attributions WHERE room = $1 AND message_id = $2 AND kind = $3 AND fence = $4`,
		string(w.id), plain(r.MessageID), claimed, r.Fence).Scan(&verdict)
	if noRows(err) {
		return "", false, nil
	}
	return verdict, err == nil, err
}

// attribute writes what was said. The first word of a kind for a lease stays.
func (w *work) attribute(epoch int64, r room.Record, kind, verdict string) error {
	_, err := w.exec(`INSERT INTO attributions (room, message_id, kind, fence, epoch, ticket, seller, verdict, who, reason, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`, string(w.id), plain(r.MessageID), kind,
		r.Fence, epoch, r.Ticket, plain(r.Seller), verdict, plain(r.Who), plain(r.Reason), r.At)
	return err
}

// rejected writes that a holder says that a message is not its own: what was verified of it stands no longer, so
// that it may be found to belong to another lease.
func (w *work) rejected(epoch int64, r room.Record) error {
	if r.MessageID == "" {
		return fmt.Errorf("%w: rejection without a message", errOdd)
	}
	if err := w.attribute(epoch, r, rejected, ""); err != nil {
		return err
	}
	_, err := w.exec(`UPDATE verifications SET voided_at = $4
		WHERE room = $1 AND message_id = $2 AND fence = $3 AND voided_at IS NULL`, string(w.id), plain(r.MessageID), r.Fence, r.At)
	if err != nil {
		return err
	}
	return w.incident(epoch, alarm{kind: "message_rejected", subject: r.MessageID, ticket: r.Ticket, fence: r.Fence,
		seller: r.Seller, detail: "a holder said that a message is not its own", at: r.At})
}
