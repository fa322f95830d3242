package ledger

import (
	"github.com/waitroom/waitroom/room"
)

// lease is a row of leases. Times are unix ms; nil is NULL.
type lease struct {
	fence, epoch, ticket    int64
	seller                  string
	granted, expires, ended *int64
	outcome                 *string

	known, changed bool // it is in the table; it is to be written
}

// grant begins the lease. It is false where it was granted before.
func (l *lease) grant(epoch int64, r room.Record) bool {
	if l.granted != nil {
		return false
	}
	l.begin(epoch, r)
	l.granted, l.expires, l.changed = new(r.GrantedAt), new(r.ExpiresAt), true
	return true
}

func (l *lease) extend(r room.Record) {
	if l.known {
		l.expires, l.changed = new(r.ExpiresAt), true
	}
}

// end is false where the lease was over before. The first outcome stays.
func (l *lease) end(epoch int64, r room.Record) bool {
	if l.outcome != nil {
		return false
	}
	l.begin(epoch, r)
	l.ended, l.outcome, l.changed = new(r.EndedAt), new(string(r.Outcome)), true
	return true
}

// begin is whose it is, which the first record of it says.
func (l *lease) begin(epoch int64, r room.Record) {
	if !l.known {
		l.known, l.epoch, l.ticket, l.seller = true, epoch, r.Ticket, plain(r.Seller)
	}
}

// readLeases takes in what the table has of the leases.
func (w *work) readLeases(leases map[int64]*lease) error {
	var rows [][]any
	for fence := range leases {
		rows = append(rows, []any{fence})
	}
	return w.eachRow(func(scan func(...any) error) error {
		l := lease{known: true}
		err := scan(&l.fence, &l.epoch, &l.ticket, &l.seller, &l.granted, &l.expires, &l.ended, &l.outcome)
		if err == nil {
			*leases[l.fence] = l
		}
		return err
	}, `SELECT t.fence, t.epoch, t.ticket, t.seller, t.granted_at, t.expires_at, t.ended_at, t.outcome
		FROM (SELECT CAST(value->>0 AS BIGINT) AS fence FROM `+w.rows()+`) q`+
		w.Dialect.Matching("leases", "t.room = $1 AND t.fence = q.fence"), rows)
}

func (w *work) writeLeases(leases []*lease) error {
	var rows [][]any
	for _, l := range leases {
		if l.changed {
			rows = append(rows, []any{l.fence, l.epoch, l.ticket, l.seller, l.granted, l.expires, l.ended, l.outcome})
			l.changed = false
		}
	}
	return w.writeRows(`INSERT INTO leases (room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome)
		SELECT $1, CAST(value->>0 AS BIGINT), CAST(value->>1 AS BIGINT), CAST(value->>2 AS BIGINT), value->>3, CAST(value->>4 AS BIGINT),
			CAST(value->>5 AS BIGINT), CAST(value->>6 AS BIGINT), value->>7
		FROM `+w.rows()+` WHERE true ON CONFLICT (room, fence) DO UPDATE SET granted_at = excluded.granted_at,
			expires_at = excluded.expires_at, ended_at = excluded.ended_at, outcome = excluded.outcome`, rows)
}

// orZero is 0 for one that is not known.
func orZero(at *int64) int64 {
	if at == nil {
		return 0
	}
	return *at
}
