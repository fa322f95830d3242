package ledger

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// AuditFault is a broken row of a room's audit chain.
type AuditFault struct {
	Room room.ID
	Seq  int64  // the number of the row in the room's audit
	What string // in words
}

// AuditReport is the result of a verification.
type AuditReport struct {
	Rows    int // verified rows
	Erased  int // verified rows whose texts an erasure rewrote: their texts are not verified
	Outside int // rows outside any chain: older than the chain, or about to be trimmed
	Faults  []AuditFault
	Heads   string // digest of the ends of all chains; it changes with every action and only then
}

// VerifyAudit verifies the hash chain over support's actions, in every room.
func (l *Ledger) VerifyAudit(ctx context.Context) (r AuditReport, err error) {
	ids, err := l.auditedRooms(ctx, &r)
	var heads []any
	for _, id := range ids {
		var v roomAudit
		err = l.inRoom(ctx, room.ID(id), func(w *work) (err error) {
			v, err = w.verify(id)
			return err
		})
		if err != nil {
			break
		}
		r.Rows, r.Erased, r.Faults = r.Rows+v.rows, r.Erased+v.erased, append(r.Faults, v.faults...)
		heads = append(heads, id, v.last, v.hash)
	}
	if err != nil {
		return AuditReport{}, fmt.Errorf("verify audit: %w", err)
	}
	r.Heads = digestOf(heads...)
	return r, nil
}

// auditedRooms returns the rooms with chains, and counts the rows outside of them.
func (l *Ledger) auditedRooms(ctx context.Context, r *AuditReport) (ids []string, err error) {
	err = l.reading(ctx, "", func(w *work) error {
		ids = nil
		err := w.Row(`SELECT COUNT(*) FROM actions a
			WHERE seq = 0 OR seq < (SELECT c.first FROM audit_chains c WHERE c.room = a.room)`).Scan(&r.Outside)
		if err != nil {
			return err
		}
		return w.Each(func(scan func(...any) error) error {
			ids = append(ids, "")
			return scan(&ids[len(ids)-1])
		}, `SELECT room FROM audit_chains UNION SELECT room FROM actions WHERE seq > 0 ORDER BY room`)
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// roomAudit is the state of one room's verification.
type roomAudit struct {
	room         string
	next, last   int64  // the next expected row, and the last
	hash         string // the last row's hash
	prev         string // the previous row's hash; "" = not known
	rows, erased int
	faults       []AuditFault
}

// verify reads a room's chain. Its transaction keeps the drain and the trim out of the room.
func (w *work) verify(id string) (v roomAudit, err error) {
	v = roomAudit{room: id}
	err = w.Row(`SELECT first, seq, hash FROM audit_chains WHERE room = $1`, id).Scan(&v.next, &v.last, &v.hash)
	if noRows(err) {
		v.fault(0, "the end of the chain is missing")
		return v, nil
	}
	if err != nil {
		return v, err
	}
	err = w.Each(func(scan func(...any) error) error {
		c := chained{Room: id}
		err := scan(&c.Epoch, &c.Entry, &c.N, &c.At, &c.Who, &c.Action, &c.reason, &c.Ticket, &c.Fence,
			&c.MessageID, &c.Detail, &c.seller, &c.Seq, &c.salt, &c.Texts, &c.Prev, &c.hash)
		if err == nil {
			v.row(c)
		}
		return err
	}, `SELECT epoch, entry, n, at, who, action, reason, ticket, fence, message_id, detail, seller, seq, salt,
		texts, prev, hash
		FROM actions WHERE room = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq`, id, v.next, v.last)
	v.missing(v.last + 1)
	if v.prev != "" && v.prev != v.hash {
		v.fault(v.last, "does not end the chain: the end was edited")
	}
	return v, err
}

// row verifies the next row of the chain.
func (v *roomAudit) row(c chained) {
	v.missing(c.Seq)
	if c.Seq < v.next {
		v.fault(c.Seq, "is there twice")
		return
	}
	v.next = c.Seq + 1
	v.rows++
	switch {
	case c.salt == "":
		v.erased++
	case c.textDigest() != c.Texts:
		v.fault(c.Seq, "was edited: its seller or reason")
	}
	switch {
	case c.digest() != c.hash:
		v.fault(c.Seq, "was edited")
	case v.prev != "" && c.Prev != v.prev:
		v.fault(c.Seq, "does not follow the row before it")
	}
	v.prev = c.hash
}

// missing records a fault if rows are missing before this one.
func (v *roomAudit) missing(seq int64) {
	if v.next < seq {
		v.fault(v.next, fmt.Sprintf("to %d: missing", seq-1))
		v.next, v.prev = seq, ""
	}
}

func (v *roomAudit) fault(seq int64, what string) {
	v.faults = append(v.faults, AuditFault{Room: room.ID(v.room), Seq: seq, What: what})
}
