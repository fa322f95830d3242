package ledger

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
)

// Verdicts are final.
const (
	agreed  = "agreed"
	refused = "refused"
)

// facts are the ledger's rows that may forbid a match to the live lease. The end that a completing match
// causes comes later in the journal, so a lease that is over by now ended otherwise.
type facts struct {
	assignedTo
	settled     bool   // a message completed its lease, or was verified for a higher fence
	overlapping bool   // a lease with a verified message overlaps its lease
	passed      bool   // a higher fence was granted
	outcome     string // of its lease; "" = open, as far as known
}

// objection returns the rule that a match would break; "" = none.
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

// factsOf returns the facts about each match.
func (w *work) factsOf(matches []room.Record) ([]facts, error) {
	found := make([]facts, len(matches))
	rows := dialect.NewRows(len(matches), "i BIGINT", "message_id TEXT", "fence BIGINT", "granted_at BIGINT",
		"ended_at BIGINT")
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

// assignedTo is how a message already belongs to a lease.
type assignedTo struct {
	verified bool // it was matched, or given to a live lease
	given    bool // it was given to a lease, and still belongs to it
	answered bool // its first answer named a lease, and the holder has not rejected it
}

// assignedColumns returns the columns of assignedTo, for a message of room $1. OFFSET 0 keeps PostgreSQL from
// hashing whole tables before it knows their sizes.
func assignedColumns(message string) string {
	return strings.ReplaceAll(`
	EXISTS (SELECT 1 FROM verifications v WHERE v.room = $1 AND v.message_id = MESSAGE AND v.voided_at IS NULL
	LIMIT 1 OFFSET 0),
	EXISTS (SELECT 1 FROM attributions a WHERE a.room = $1 AND a.message_id = MESSAGE
	AND `+standing+` LIMIT 1 OFFSET 0),
	EXISTS (SELECT 1 FROM messages m WHERE m.room = $1 AND m.message_id = MESSAGE
	AND m.result IN ('matched', 'late')
		AND NOT EXISTS (SELECT 1 FROM attributions r
			WHERE r.room = m.room AND r.message_id = m.message_id AND r.kind = 'rejected' AND r.fence = m.fence)
			LIMIT 1 OFFSET 0)`,
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

// objectionToGiven is objection for a message that a holder claims, or that support gives to a lease, live or
// over. A lease that is over did not cause a message that was sent a second and the guard before it began.
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
	case sent > 0 && sent+schema.WholeSecond+w.guard.Milliseconds() <= granted:
		return "it was sent before its lease was granted", nil
	}
	return "", nil
}

// agreeToMatch adds a verdict for the room and an event for the integration: a message belongs to its lease.
func (w *work) agreeToMatch(r room.Record) error {
	w.addVerdict(r, true)
	return w.sendWebhook("sms.matched", r.At,
		webhookEvent{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, GrantedAt: r.GrantedAt,
			MessageID: r.MessageID, SentAt: r.SentAt})
}

// refuseMatch refuses a match and adds an incident.
func (w *work) refuseMatch(epoch int64, r room.Record, why string) error {
	w.addVerdict(r, false)
	return w.addIncident(epoch, alarm{kind: "match_refused", message: r.MessageID, ticket: r.Ticket,
		fence:  r.Fence,
		seller: r.Seller, detail: "a match was refused: " + why, at: r.At})
}

// noRows reports an empty result, which is not a failure.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
