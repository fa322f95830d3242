package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// Decisions about a message after its first answer. The first answer stays: a carrier's repeat still gets it.
const (
	claimed  = "claimed"
	assigned = "assigned"
	rejected = "rejected"
)

// gives reports whether a record gives a message to a lease after its first answer. Such records are always
// judged.
func gives(kind string) bool { return kind == claimed || kind == assigned }

// judges reports whether a record has a verdict.
func (n record) judges() bool { return n.Type == "message" && n.Judge || gives(n.Type) }

// standing is the SQL condition that attribution a still gives its message to a lease.
const standing = `a.kind IN ('claimed', 'assigned') AND a.verdict = 'agreed' AND NOT EXISTS (SELECT 1
	FROM attributions r
	WHERE r.room = a.room AND r.message_id = a.message_id AND r.kind = 'rejected' AND r.fence = a.fence
	AND r.at >= a.at)`

// giveMessage writes and judges that a holder claims an unmatched message, or support assigns one.
func (w *work) giveMessage(n record) error {
	epoch, r := n.epoch, n.Record
	if r.MessageID == "" {
		return fmt.Errorf("%w: %s without a message", errMalformed, r.Type)
	}
	verdict, found, err := w.findAttribution(r)
	if err != nil {
		return err
	}
	if found {
		w.repeatVerdict(r, verdict == agreed)
		return nil
	}
	why, err := w.objectionToGiven(r)
	if err != nil {
		return err
	}
	if why != "" {
		if err := w.attribute(epoch, r, refused); err != nil {
			return err
		}
		return w.refuseMatch(epoch, r, why)
	}
	if err := w.attribute(epoch, r, agreed); err != nil {
		return err
	}
	if err := w.setBelongs(epoch, r); err != nil {
		return err
	}
	return w.agreeToGiven(epoch, r)
}

// agreeToGiven binds a message to a live lease. A lease that is over needs no more than the attribution.
func (w *work) agreeToGiven(epoch int64, r room.Record) error {
	if r.Result == room.Late {
		w.addVerdict(r, true)
		return nil
	}
	err := w.Row(`SELECT sent_at FROM messages WHERE room = $1 AND message_id = $2`, string(w.id),
		plain(r.MessageID)).Scan(&r.SentAt)
	if err != nil && !noRows(err) {
		return err
	}
	if err := w.writeVerifications([]verification{{epoch, r}}); err != nil {
		return err
	}
	return w.agreeToMatch(r)
}

// findAttribution returns the verdict on a claim or an assignment. Support may assign a message again after a
// refusal or a rejection, which is judged anew. A repeat of the same assignment has the same time.
func (w *work) findAttribution(r room.Record) (verdict string, found bool, err error) {
	var stands bool
	var last int64
	err = w.Row(`SELECT a.verdict, `+standing+`, COALESCE((SELECT MAX(l.at) FROM attributions l
			WHERE l.room = a.room AND l.message_id = a.message_id AND l.fence = a.fence
				AND l.kind IN ('rejected', $3)), 0)
		FROM attributions a WHERE a.room = $1 AND a.message_id = $2 AND a.kind = $3 AND a.fence = $4`,
		string(w.id), plain(r.MessageID), r.Type, r.Fence).Scan(&verdict, &stands, &last)
	if noRows(err) {
		return "", false, nil
	}
	again := r.Type == assigned && !stands && r.At > last
	return verdict, err == nil && !again, err
}

// attribute writes a decision: the latest of its kind for a lease.
func (w *work) attribute(epoch int64, r room.Record, verdict string) error {
	_, err := w.Exec(`INSERT INTO attributions (room, message_id, kind, fence, epoch, ticket, seller, verdict,
		who, reason, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (room, message_id, kind, fence) DO UPDATE SET verdict = excluded.verdict, who = excluded.who,
			reason = excluded.reason, at = excluded.at
		WHERE excluded.at > attributions.at`, string(w.id), plain(r.MessageID), r.Type,
		r.Fence, epoch, r.Ticket, plain(r.Seller), verdict, plain(r.Who), plain(r.Reason), r.At)
	return err
}

// rejectMessage writes that a holder rejects a message. Its verification is void, so that the message may
// belong to another lease.
func (w *work) rejectMessage(n record) error {
	epoch, r := n.epoch, n.Record
	if r.MessageID == "" {
		return fmt.Errorf("%w: rejection without a message", errMalformed)
	}
	if err := w.attribute(epoch, r, ""); err != nil {
		return err
	}
	if err := w.setUnassigned(r); err != nil {
		return err
	}
	_, err := w.Exec(`UPDATE verifications SET voided_at = $4
		WHERE room = $1 AND message_id = $2 AND fence = $3 AND voided_at IS NULL`, string(w.id), plain(r.MessageID),
		r.Fence, r.At)
	if err != nil {
		return err
	}
	return w.addIncident(epoch, alarm{kind: "message_rejected", message: r.MessageID, ticket: r.Ticket,
		fence:  r.Fence,
		seller: r.Seller, detail: "a holder said that a message is not its own", at: r.At})
}
