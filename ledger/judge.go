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

// objection says what rule a match would break; "" when none. The end that a completing match gives its lease
// stands behind it in the journal: a lease that is over by now was over by something else.
func (w *work) objection(r room.Record) (string, error) {
	if r.Fence <= 0 || r.EndedAt < r.GrantedAt {
		return "its lease is not one", nil
	}
	var settled, overlapping, verified, passed bool
	var outcome string
	err := w.row(`SELECT
		EXISTS (SELECT 1 FROM verifications
			WHERE room = $1 AND fence >= $2 AND (fence > $2 OR (completes = 1 AND voided_at IS NULL))),
		EXISTS (SELECT 1 FROM verifications WHERE room = $1 AND ended_at > $3 AND granted_at < $4 AND fence <> $2),
		EXISTS (SELECT 1 FROM verifications WHERE room = $1 AND message_id = $5 AND voided_at IS NULL),
		EXISTS (SELECT 1 FROM leases WHERE room = $1 AND fence > $2),
		COALESCE((SELECT outcome FROM leases WHERE room = $1 AND fence = $2), '')`,
		string(w.id), r.Fence, r.GrantedAt, r.EndedAt, plain(r.MessageID)).
		Scan(&settled, &overlapping, &verified, &passed, &outcome)
	switch {
	case err != nil:
		return "", err
	case settled:
		return "its fence is not above the highest settled one", nil
	case overlapping:
		return "its lease overlaps a settled one", nil
	case verified:
		return "it is verified for a lease already", nil
	case outcome != "":
		return "its lease was over by something else: " + outcome, nil
	case passed:
		return "its fence is below one that was granted", nil
	}
	return "", nil
}

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
