package ledger

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// A verdict on a match is for ever.
const (
	agreed  = "agreed"
	refused = "refused"
)

// facts are what the ledger knows that a match to the live lease may break a rule of. The end that a completing match gives its
// lease stands behind it in the journal: a lease that is over by now was over by something else.
type facts struct {
	assignedTo
	settled     bool   // its fence is not above the highest settled one
	overlapping bool   // its lease overlaps a settled one
	passed      bool   // its fence is below one that was granted
	outcome     string // of its lease; "" of one that is not over, for all that is known
}

// objection says what rule a match would break; "" when none.
func (f facts) objection(r room.Record) string {
	switch {
	case r.Fence <= 0 || r.EndedAt < r.GrantedAt:
		return "its lease is not one"
	case f.settled:
		return "its fence is not above the highest settled one"
	case f.overlapping:
		return "its lease overlaps a settled one"
	case f.assignedTo.objection() != "":
		return f.assignedTo.objection()
	case f.outcome != "":
		return "its lease was over by something else: " + f.outcome
	case f.passed:
		return "its fence is below one that was granted"
	}
	return ""
}

// factsOf looks up the facts of each of some matches.
func (w *work) factsOf(matches []room.Record) ([]facts, error) {
	found := make([]facts, len(matches))
	rows := dialect.NewRows(len(matches), "i BIGINT", "message_id TEXT", "fence BIGINT", "granted_at BIGINT", "ended_at BIGINT")
	for i, r := range matches {
		rows.Add(int64(i), plain(r.MessageID), r.Fence, r.GrantedAt, r.EndedAt)
	}
	return found, w.EachRow(func(scan func(...any) error) error {
		var i int
		var f facts
		err := scan(&i, &f.verified, &f.given, &f.answered, &f.settled, &f.overlapping, &f.passed, &f.outcome)
		found[i] = f
		return err
	}, rows, `SELECT q.i, `+assignedColumns("q.message_id")+`,
		EXISTS (SELECT 1 FROM verifications v WHERE v.room = $1 AND v.fence >= q.fence
			AND (v.fence > q.fence OR (v.completes = 1 AND v.voided_at IS NULL)))
			OR EXISTS (SELECT 1 FROM high_water h WHERE h.room = $1 AND h.settled >= q.fence),
		EXISTS (SELECT 1 FROM verifications v
			WHERE v.room = $1 AND v.ended_at > q.granted_at AND v.granted_at < q.ended_at AND v.fence <> q.fence)
			OR EXISTS (SELECT 1 FROM high_water h WHERE h.room = $1 AND h.settled_until > q.granted_at),
		EXISTS (SELECT 1 FROM leases l WHERE l.room = $1 AND l.fence > q.fence)
			OR EXISTS (SELECT 1 FROM high_water h WHERE h.room = $1 AND h.fence > q.fence),
		COALESCE((SELECT l.outcome FROM leases l WHERE l.room = $1 AND l.fence = q.fence), '')
		FROM v q`, string(w.id))
}

// taken is how a message belongs to a lease already.
type assignedTo struct {
	verified bool // it was matched to it, or given to it while it went on
	given    bool // and still is
	answered bool // by its first answer, which its holder has not rejected; one that has no answer yet has none
}

// takenColumns are those of taken, of a message of the room $1. OFFSET 0 keeps PostgreSQL from reading whole tables into a hash
// where it does not know yet how large they are.
func assignedColumns(message string) string {
	return strings.ReplaceAll(`
	EXISTS (SELECT 1 FROM verifications v WHERE v.room = $1 AND v.message_id = MESSAGE AND v.voided_at IS NULL LIMIT 1 OFFSET 0),
	EXISTS (SELECT 1 FROM attributions a WHERE a.room = $1 AND a.message_id = MESSAGE AND `+standing+` LIMIT 1 OFFSET 0),
	EXISTS (SELECT 1 FROM messages m WHERE m.room = $1 AND m.message_id = MESSAGE AND m.result IN ('matched', 'late')
		AND NOT EXISTS (SELECT 1 FROM attributions r
			WHERE r.room = m.room AND r.message_id = m.message_id AND r.kind = 'rejected' AND r.fence = m.fence) LIMIT 1 OFFSET 0)`,
		"MESSAGE", message)
}

func (t assignedTo) objection() string {
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
		found, err := w.factsOf([]room.Record{r})
		if err != nil {
			return "", err
		}
		return found[0].objection(r), nil
	}
	if r.Fence <= 0 || r.EndedAt < r.GrantedAt {
		return "its lease is not one", nil
	}
	var has assignedTo
	var sent, granted int64
	err := w.Row(`SELECT `+assignedColumns("$2")+`,
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

// agree has the room and the integration told that a message belongs to its lease.
func (w *work) agreeToMatch(r room.Record) error {
	w.addVerdict(r, true)
	return w.sendWebhook("sms.matched", r.At, webhookEvent{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, GrantedAt: r.GrantedAt,
		MessageID: r.MessageID, SentAt: r.SentAt})
}

// refuse calls for a person.
func (w *work) refuseMatch(epoch int64, r room.Record, why string) error {
	w.addVerdict(r, false)
	return w.addIncident(epoch, alarm{kind: "match_refused", subject: r.MessageID, ticket: r.Ticket, fence: r.Fence,
		seller: r.Seller, detail: "a match was refused: " + why, at: r.At})
}

// noRows is an answer, not a failure.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
