package ledger

import (
	"database/sql"
	"errors"

	"github.com/waitroom/waitroom/room"
)

// A verdict on a match is for ever.
const (
	agreed  = "agreed"
	refused = "refused"
)

// objection says what rule a match to the live lease would break; "" when none. The end that a completing match gives its
// lease stands behind it in the journal: a lease that is over by now was over by something else.
func (w *work) objection(r room.Record) (string, error) {
	if r.Fence <= 0 || r.EndedAt < r.GrantedAt {
		return "its lease is not one", nil
	}
	var settled, overlapping, passed bool
	var has taken
	var outcome string
	err := w.row(`SELECT `+takenColumns+`,
		EXISTS (SELECT 1 FROM verifications
			WHERE room = $1 AND fence >= $3 AND (fence > $3 OR (completes = 1 AND voided_at IS NULL))),
		EXISTS (SELECT 1 FROM verifications WHERE room = $1 AND ended_at > $4 AND granted_at < $5 AND fence <> $3),
		EXISTS (SELECT 1 FROM leases WHERE room = $1 AND fence > $3),
		COALESCE((SELECT outcome FROM leases WHERE room = $1 AND fence = $3), '')`,
		string(w.id), plain(r.MessageID), r.Fence, r.GrantedAt, r.EndedAt).
		Scan(&has.verified, &has.given, &has.answered, &settled, &overlapping, &passed, &outcome)
	switch {
	case err != nil:
		return "", err
	case settled:
		return "its fence is not above the highest settled one", nil
	case overlapping:
		return "its lease overlaps a settled one", nil
	case has.objection() != "":
		return has.objection(), nil
	case outcome != "":
		return "its lease was over by something else: " + outcome, nil
	case passed:
		return "its fence is below one that was granted", nil
	}
	return "", nil
}

// taken is how a message belongs to a lease already.
type taken struct {
	verified bool // it was matched to it, or given to it while it went on
	given    bool // and still is
	answered bool // by its first answer, which its holder has not rejected; one that has no answer yet has none
}

// takenColumns are those of taken, of the message $2 of the room $1.
const takenColumns = `
	EXISTS (SELECT 1 FROM verifications WHERE room = $1 AND message_id = $2 AND voided_at IS NULL),
	EXISTS (SELECT 1 FROM attributions a WHERE a.room = $1 AND a.message_id = $2 AND ` + standing + `),
	EXISTS (SELECT 1 FROM messages m WHERE m.room = $1 AND m.message_id = $2 AND m.result IN ('matched', 'late')
		AND NOT EXISTS (SELECT 1 FROM attributions r
			WHERE r.room = m.room AND r.message_id = m.message_id AND r.kind = 'rejected' AND r.fence = m.fence))`

func (t taken) objection() string {
	switch {
	case t.verified:
		return "it is verified for a lease already"
	case t.given:
		return "it was given to a lease already"
	case t.answered:
		return "it came for a lease already"
	}
	return ""
}

// objectionToGiven is objection, also to what support gives to a lease that is over: to one that the message could not have
// come for because it was sent before.
func (w *work) objectionToGiven(r room.Record) (string, error) {
	if r.Result != room.Late {
		return w.objection(r)
	}
	if r.Fence <= 0 || r.EndedAt < r.GrantedAt {
		return "its lease is not one", nil
	}
	var has taken
	var sent, granted int64
	err := w.row(`SELECT `+takenColumns+`,
		COALESCE((SELECT sent_at FROM messages WHERE room = $1 AND message_id = $2), 0),
		COALESCE((SELECT granted_at FROM leases WHERE room = $1 AND fence = $3), $4)`,
		string(w.id), plain(r.MessageID), r.Fence, r.GrantedAt).
		Scan(&has.verified, &has.given, &has.answered, &sent, &granted)
	switch {
	case err != nil:
		return "", err
	case has.objection() != "":
		return has.objection(), nil
	case sent > 0 && sent+wholeSecond+w.guard.Milliseconds() <= granted:
		return "it was sent before its lease was granted", nil
	}
	return "", nil
}

// wholeSecond is how exact a carrier's time is at the least, in ms.
const wholeSecond = 1000

// agree binds a message to its lease for good.
func (w *work) agree(epoch int64, r room.Record) error {
	w.give(r, true)
	_, err := w.exec(`INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at, ended_at, completes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		string(w.id), r.Fence, epoch, r.Ticket, plain(r.MessageID), r.GrantedAt, r.EndedAt, number(r.Completes))
	if err != nil {
		return err
	}
	return w.send("sms.matched", r.At, event{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, GrantedAt: r.GrantedAt,
		MessageID: r.MessageID, SentAt: r.SentAt})
}

// refuse calls for a person.
func (w *work) refuse(epoch int64, r room.Record, why string) error {
	w.give(r, false)
	return w.incident(epoch, alarm{kind: "match_refused", subject: r.MessageID, ticket: r.Ticket, fence: r.Fence,
		seller: r.Seller, detail: "a match was refused: " + why, at: r.At})
}

// noRows is an answer, not a failure.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
