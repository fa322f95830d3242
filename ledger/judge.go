package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// judged is the state of a message whose result is known.
const judged = "judged"

// A verdict on a matched message is for ever.
const (
	agreed  = "agreed"
	refused = "refused"
)

// message writes what became of an SMS and, where it was matched, judges that. The first result of a
// message stays.
func (w *work) message(epoch int64, r room.Record) error {
	if r.MessageID == "" || r.Result == "" {
		return fmt.Errorf("%w: message without an id or result", errOdd)
	}
	before, err := w.received(r.MessageNote)
	if err != nil {
		return err
	}
	known, err := w.judgedBefore(before, r)
	if err != nil || known {
		return err
	}
	verdict, why := "", ""
	if r.Result == room.Matched {
		if why, err = w.objection(r); err != nil {
			return err
		}
		verdict = agreed
		if why != "" {
			verdict = refused
		}
		w.judged = append(w.judged, verdict)
	}
	if verdict == refused {
		return w.refuse(epoch, r, why)
	}
	if err := w.conclude(epoch, r, verdict, r.Fence); err != nil || verdict != agreed {
		return err
	}
	return w.agree(epoch, r)
}

// known is what the ledger has of a message.
type known struct {
	state    string
	claimed  int64
	received int64 // when it came for the first time, unix ms
	room.Match
}

// received makes a message durable before it is matched, and tells what is known of it. Its digits are
// masked, whoever did so before.
func (w *work) received(n room.MessageNote) (k known, err error) {
	err = w.row(`INSERT INTO messages (room, message_id, state, sender, body, sent_at, received_at)
		VALUES ($1, $2, 'received', $3, $4, $5, $6) ON CONFLICT (room, message_id) DO UPDATE SET message_id = excluded.message_id
		RETURNING state, claimed, result, reason, epoch, ticket, fence, granted_at, ended_at, matched_at, received_at`,
		string(w.id), plain(n.MessageID), plain(room.MaskSender(n.From)), plain(room.Mask(n.Text)), n.SentAt, n.Received).
		Scan(&k.state, &k.claimed, &k.Result, &k.Reason, &k.Epoch, &k.Ticket, &k.Fence, &k.Granted, &k.Ended, &k.At, &k.received)
	return k, err
}

// judgedBefore tells a repeat. One that claims another lease than the first time is an incident: the
// room forgot what it had answered.
func (w *work) judgedBefore(before known, r room.Record) (bool, error) {
	if before.state != judged {
		return false, nil
	}
	if before.claimed == r.Fence || r.Result != room.Matched {
		return true, nil
	}
	return true, w.incident(0, alarm{kind: "message_matched_twice", subject: r.MessageID, ticket: r.Ticket, fence: r.Fence,
		seller: r.Seller, detail: "a message was matched to a second lease; the first answer stays", at: r.At})
}

// objection says what rule a match would break; "" when none.
func (w *work) objection(r room.Record) (string, error) {
	if r.Fence <= 0 || r.EndedAt < r.GrantedAt {
		return "its lease is not one", nil
	}
	except := int64(0) // a match that ends no lease is one of several of the same lease
	if !r.Completes {
		except = r.Fence
	}
	var above, overlapping int
	err := w.row(`SELECT
		(SELECT COUNT(*) FROM verifications WHERE room = $1 AND fence >= $2 AND fence <> $3),
		(SELECT COUNT(*) FROM verifications WHERE room = $1 AND ended_at > $4 AND granted_at < $5 AND fence <> $3)`,
		string(w.id), r.Fence, except, r.GrantedAt, r.EndedAt).Scan(&above, &overlapping)
	switch {
	case err != nil:
		return "", err
	case above > 0:
		return "its fence is not above the highest settled one", nil
	case overlapping > 0:
		return "its lease overlaps a settled one", nil
	}
	return "", nil
}

// conclude writes a message's result; claimed is the fence that the room had bound it to.
func (w *work) conclude(epoch int64, r room.Record, verdict string, claimed int64) error {
	completes := 0
	if r.Completes {
		completes = 1
	}
	_, err := w.exec(`UPDATE messages SET state = 'judged', result = $3, reason = $4, verdict = $5, completes = $6, epoch = $7,
		ticket = $8, fence = $9, seller = $10, granted_at = $11, ended_at = $12, matched_at = $13, claimed = $14
		WHERE room = $1 AND message_id = $2`, string(w.id), plain(r.MessageID), string(r.Result), r.Reason, verdict, completes,
		epoch, r.Ticket, r.Fence, plain(r.Seller), r.GrantedAt, r.EndedAt, r.At, claimed)
	return err
}

// agree binds the message to its lease for good.
func (w *work) agree(epoch int64, r room.Record) error {
	if r.Completes {
		_, err := w.exec(`INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(w.id), r.Fence, epoch, r.Ticket, plain(r.MessageID), r.GrantedAt, r.EndedAt)
		if err != nil {
			return err
		}
	}
	return w.send("sms.matched", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, GrantedAt: r.GrantedAt,
		MessageID: r.MessageID, SentAt: r.SentAt})
}

// refuse answers the message as ambiguous, bound to nothing, and calls for a person.
func (w *work) refuse(epoch int64, r room.Record, why string) error {
	none := r
	none.Result, none.Reason = room.Unmatched, string(room.Ambiguous)
	none.Ticket, none.Fence, none.Seller, none.GrantedAt, none.EndedAt = 0, 0, "", 0, 0
	if err := w.conclude(epoch, none, refused, r.Fence); err != nil {
		return err
	}
	return w.incident(epoch, alarm{kind: "match_refused", subject: r.MessageID, ticket: r.Ticket, fence: r.Fence,
		seller: r.Seller, detail: "a match was refused: " + why, at: r.At})
}

// alarm is an incident: something that must not happen did, and a person should look.
type alarm struct {
	kind    string
	subject string
	ticket  int64
	fence   int64
	seller  string
	detail  string
	at      int64
}

func (w *work) incident(epoch int64, a alarm) error {
	first, err := w.exec(`INSERT INTO incidents (room, kind, subject, epoch, ticket, fence, detail, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		string(w.id), a.kind, plain(a.subject), epoch, a.ticket, a.fence, a.detail, a.at)
	if err != nil || first == 0 {
		return err
	}
	w.alarms = append(w.alarms, a)
	err = w.note(epoch, "incident/"+a.kind+"/"+plain(a.subject), a.fence, room.Record{Type: "incident", At: a.at,
		Ticket: a.ticket, Fence: a.fence, Seller: a.seller, Action: a.kind, Reason: a.detail})
	if err != nil {
		return err
	}
	e := event{Ticket: a.ticket, Fence: a.fence, Seller: a.seller, Kind: a.kind, Detail: a.detail}
	if a.kind == "ticket_reused" {
		e.Fence = 0
	} else {
		e.MessageID = a.subject
	}
	return w.send("incident", a.at, e)
}

// noRows is an answer, not a failure.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
