package ledger

import (
	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// lease is a row of leases. Times are unix ms; nil is NULL.
type lease struct {
	fence, epoch, ticket    int64
	seller                  string
	granted, expires, ended *int64
	outcome                 *string

	stored, known, changed bool // it was in the table; somebody has it; it is to be written
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

func leases(r *run) int { return len(r.batch.leaseOrder) }

// readLeases takes in what the table has of the leases.
func readLeases(s sqldb.Session, runs []*run) error {
	rows, of := dialect.NewRows(count(runs, leases), "room TEXT", "fence BIGINT"), make(map[string]*run, len(runs))
	for _, r := range runs {
		of[string(r.id)] = r
		for _, l := range r.batch.leaseOrder {
			rows.Add(string(r.id), l.fence)
		}
	}
	return s.EachRow(func(scan func(...any) error) error {
		l, id := lease{stored: true, known: true}, ""
		err := scan(&id, &l.fence, &l.epoch, &l.ticket, &l.seller, &l.granted, &l.expires, &l.ended, &l.outcome)
		if err == nil {
			*of[id].batch.leases[l.fence] = l
		}
		return err
	}, rows, `SELECT t.room, t.fence, t.epoch, t.ticket, t.seller, t.granted_at, t.expires_at, t.ended_at, t.outcome`+
		s.Dialect.Matching("leases", "t.room = v.room AND t.fence = v.fence"))
}

func writeLeases(s sqldb.Session, runs []*run) error {
	rows := dialect.NewRows(count(runs, leases), "room TEXT", "fence BIGINT", "epoch BIGINT", "ticket BIGINT", "seller TEXT", "granted_at BIGINT", "expires_at BIGINT",
		"ended_at BIGINT", "outcome TEXT")
	for _, r := range runs {
		for _, l := range r.batch.leaseOrder {
			if l.changed {
				r.tally.granted += int(number(!l.stored))
				rows.Add(string(r.id), l.fence, l.epoch, l.ticket, l.seller, l.granted, l.expires, l.ended, l.outcome)
			}
		}
	}
	return s.ExecRows(rows, `INSERT INTO leases (room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome)
		SELECT room, fence, epoch, ticket, seller, granted_at, expires_at, ended_at, outcome FROM v WHERE true ON CONFLICT (room, fence) DO UPDATE SET
			granted_at = excluded.granted_at, expires_at = excluded.expires_at, ended_at = excluded.ended_at, outcome = excluded.outcome`)
}

// orZero is 0 for one that is not known.
func orZero(at *int64) int64 {
	if at == nil {
		return 0
	}
	return *at
}
