package ledger

import (
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/room"
)

// judged is the state of a message whose result is known.
const judged = "judged"

// message writes what became of an SMS and, where the second line has a say in it, judges that. The first
// result of a message stays.
func (w *work) message(epoch int64, r room.Record) error {
	if r.MessageID == "" || r.Result == "" {
		return fmt.Errorf("%w: message without an id or result", errOdd)
	}
	before, err := w.received(r.MessageNote)
	if err != nil {
		return err
	}
	if before.another(r.MessageNote) {
		if err := w.reused(before, r.MessageNote); err != nil {
			return err
		}
	}
	if before.state == judged {
		return w.messageAgain(before, r)
	}
	if !r.Judge {
		return w.conclude(epoch, r, "", r.Fence)
	}
	why, err := w.objection(r)
	if err != nil {
		return err
	}
	if why != "" {
		return w.refuseMessage(epoch, r, why)
	}
	if err := w.conclude(epoch, r, agreed, r.Fence); err != nil {
		return err
	}
	return w.agree(epoch, r)
}

// known is what the ledger has of a message.
type known struct {
	state       string
	claimed     int64
	received    int64 // when it came for the first time, unix ms
	verdict     string
	fingerprint string
	room.Match
}

// received makes a message durable before it is matched, and tells what is known of it. Its digits are
// masked, whoever did so before. What it was the first time stays.
func (w *work) received(n room.MessageNote) (k known, err error) {
	err = w.row(`INSERT INTO messages (room, message_id, state, sender, body, sent_at, received_at, fingerprint)
		VALUES ($1, $2, 'received', $3, $4, $5, $6, $7) ON CONFLICT (room, message_id) DO UPDATE SET message_id = excluded.message_id
		RETURNING state, claimed, result, reason, epoch, ticket, fence, granted_at, ended_at, matched_at, received_at, duplicate,
			verdict, fingerprint`,
		string(w.id), plain(n.MessageID), plain(room.MaskSender(n.From)), plain(room.Mask(n.Text)), n.SentAt, n.Received, plain(n.Fingerprint)).
		Scan(&k.state, &k.claimed, &k.Result, &k.Reason, &k.Epoch, &k.Ticket, &k.Fence, &k.Granted, &k.Ended, &k.At, &k.received,
			&k.Duplicate, &k.verdict, &k.fingerprint)
	return k, err
}

// another tells another message that came with the id of this one. Fingerprints are compared where the same key
// made them; which one did stands before the colon.
func (k known) another(n room.MessageNote) bool {
	first, _, _ := strings.Cut(k.fingerprint, ":")
	second, _, _ := strings.Cut(plain(n.Fingerprint), ":")
	return first == second && k.fingerprint != plain(n.Fingerprint)
}

// reused calls for a person, once for each message.
func (w *work) reused(first known, n room.MessageNote) error {
	return w.incident(first.Epoch, alarm{kind: "message_id_reused", subject: n.MessageID, at: n.Received,
		detail: "a message came with the id of one before and another sender, text or time; the first one's answer stays"})
}

// messageAgain takes in a message whose result is known. One that claims another lease than the first time is an
// incident: the room forgot what it had answered.
func (w *work) messageAgain(before known, r room.Record) error {
	if r.Judge {
		w.tellAgain(r, before.verdict == agreed && before.Fence == r.Fence)
	}
	if before.claimed == r.Fence || r.Result != room.Matched {
		return nil
	}
	return w.incident(0, alarm{kind: "message_matched_twice", subject: r.MessageID, ticket: r.Ticket, fence: r.Fence,
		seller: r.Seller, detail: "a message was matched to a second lease; the first answer stays", at: r.At})
}

// conclude writes a message's result; claimed is the fence that the room had bound it to.
func (w *work) conclude(epoch int64, r room.Record, verdict string, claimed int64) error {
	_, err := w.exec(`UPDATE messages SET state = 'judged', result = $3, reason = $4, verdict = $5, completes = $6, epoch = $7,
		ticket = $8, fence = $9, seller = $10, granted_at = $11, ended_at = $12, matched_at = $13, claimed = $14,
		duplicate = $15, code = $16
		WHERE room = $1 AND message_id = $2`, string(w.id), plain(r.MessageID), string(r.Result), r.Reason, verdict,
		number(r.Completes), epoch, r.Ticket, r.Fence, plain(r.Seller), r.GrantedAt, r.EndedAt, r.At, claimed,
		number(r.Duplicate), number(r.Code))
	return err
}

// refuseMessage answers the message as ambiguous, bound to nothing.
func (w *work) refuseMessage(epoch int64, r room.Record, why string) error {
	none := r
	none.Result, none.Reason, none.Completes = room.Unmatched, string(room.Ambiguous), false
	none.Ticket, none.Fence, none.Seller, none.GrantedAt, none.EndedAt = 0, 0, "", 0, 0
	if err := w.conclude(epoch, none, refused, r.Fence); err != nil {
		return err
	}
	return w.refuse(epoch, r, why)
}

// number is how the tables write yes and no.
func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
