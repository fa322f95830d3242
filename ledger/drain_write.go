package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// write writes the rows that the runs changed.
func write(s sqldb.Session, runs []*run) error {
	if err := writePlaces(s, runs); err != nil {
		return fmt.Errorf("write places: %w", err)
	}
	if err := writeLeases(s, runs); err != nil {
		return fmt.Errorf("write leases: %w", err)
	}
	for _, r := range runs {
		if err := r.writeConcluded(r.concluded); err != nil {
			return fmt.Errorf("write messages: %w", err)
		}
		if err := r.writeVerifications(r.verified); err != nil {
			return fmt.Errorf("write verifications: %w", err)
		}
	}
	return nil
}

func writePlaces(s sqldb.Session, runs []*run) error {
	rows := dialect.NewRows(countAll(runs, countPlaces), "room TEXT", "epoch BIGINT", "ticket BIGINT",
		"seller TEXT", "joined_at BIGINT", "ended_at BIGINT", "outcome TEXT", "fence BIGINT")
	for _, r := range runs {
		for _, p := range r.batch.placeOrder {
			if p.changed {
				r.counts.joined += int(number(!p.stored))
				rows.Add(string(r.id), p.epoch, p.ticket, p.seller, p.joined, p.ended, p.outcome, p.fence)
			}
		}
	}
	return s.ExecRows(rows, `INSERT INTO places (room, epoch, ticket, seller, joined_at, ended_at, outcome,
		fence)
		SELECT room, epoch, ticket, seller, joined_at, ended_at, outcome, fence FROM v WHERE true
		ON CONFLICT (room, epoch, ticket) DO UPDATE SET
			seller = excluded.seller, joined_at = excluded.joined_at, ended_at = excluded.ended_at,
			outcome = excluded.outcome, fence = excluded.fence`)
}

func writeLeases(s sqldb.Session, runs []*run) error {
	rows := dialect.NewRows(countAll(runs, countLeases), "room TEXT", "fence BIGINT", "epoch BIGINT",
		"ticket BIGINT", "seller TEXT", "joined_at BIGINT", "granted_at BIGINT", "expires_at BIGINT",
		"ended_at BIGINT", "outcome TEXT")
	for _, r := range runs {
		for _, l := range r.batch.leaseOrder {
			if l.changed {
				r.counts.granted += int(number(!l.stored))
				rows.Add(string(r.id), l.fence, l.epoch, l.ticket, l.seller, l.joined, l.granted, l.expires, l.ended,
					l.outcome)
			}
		}
	}
	return s.ExecRows(rows, `INSERT INTO leases (room, fence, epoch, ticket, seller, joined_at, granted_at,
		expires_at, ended_at, outcome)
		SELECT room, fence, epoch, ticket, seller, joined_at, granted_at, expires_at, ended_at, outcome
		FROM v WHERE true ON CONFLICT (room, fence) DO UPDATE SET
			joined_at = excluded.joined_at, granted_at = excluded.granted_at, expires_at = excluded.expires_at,
			ended_at = excluded.ended_at, outcome = excluded.outcome`)
}

// newConcluded returns an empty list for writeConcluded.
func newConcluded() *dialect.Rows {
	return dialect.NewRows(0, "message_id TEXT", "result TEXT", "reason TEXT", "verdict TEXT",
		"completes BIGINT", "epoch BIGINT", "ticket BIGINT", "fence BIGINT",
		"seller TEXT", "granted_at BIGINT", "ended_at BIGINT", "matched_at BIGINT", "claimed BIGINT",
		"duplicate BIGINT", "code BIGINT")
}

// writeConcluded writes results of messages that the table has. The insert's other columns are never used.
func (w *work) writeConcluded(rows *dialect.Rows) error {
	return w.ExecRows(rows, `INSERT INTO messages (room, state, sender, body, sent_at, received_at, message_id,
		result, reason, verdict, completes,
			epoch, ticket, fence, seller, granted_at, ended_at, matched_at, claimed, duplicate, code)
		SELECT $1, 'judged', '', '', 0, 0, message_id, result, reason, verdict, completes, epoch, ticket, fence,
		seller, granted_at, ended_at, matched_at,
			claimed, duplicate, code FROM v WHERE true ON CONFLICT (room, message_id) DO UPDATE
			SET state = 'judged', result = excluded.result,
			reason = excluded.reason, verdict = excluded.verdict, completes = excluded.completes,
			epoch = excluded.epoch,
			ticket = excluded.ticket, fence = excluded.fence, seller = excluded.seller,
			granted_at = excluded.granted_at,
			ended_at = excluded.ended_at, matched_at = excluded.matched_at, claimed = excluded.claimed,
			duplicate = excluded.duplicate, code = excluded.code`, string(w.id))
}

// verification binds a message to its lease for good.
type verification struct {
	epoch int64
	room.Record
}

// writeVerifications inserts verifications in the list's order. The table's triggers run for each row, and
// see the rows before it.
func (w *work) writeVerifications(list []verification) error {
	rows := dialect.NewRows(len(list), "fence BIGINT", "epoch BIGINT", "ticket BIGINT", "message_id TEXT",
		"granted_at BIGINT", "ended_at BIGINT", "completes BIGINT")
	for _, v := range list {
		rows.Add(v.Fence, v.epoch, v.Ticket, plain(v.MessageID), v.GrantedAt, v.EndedAt, number(v.Completes))
	}
	return w.ExecRows(rows, `INSERT INTO verifications (room, fence, epoch, ticket, message_id, granted_at,
		ended_at, completes)
		SELECT $1, fence, epoch, ticket, message_id, granted_at, ended_at, completes FROM v`, string(w.id))
}

// number returns 1 for yes and 0 for no, as the tables have them.
func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
