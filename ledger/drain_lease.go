package ledger

import (
	"github.com/waitroom/waitroom/room"
)

// lease is a row of leases. Times are unix ms; nil is NULL.
type lease struct {
	fence, epoch, ticket    int64
	seller                  string
	joined                  *int64 // of its place, when it was granted
	granted, expires, ended *int64
	outcome                 *string

	stored, known, changed bool // in the table; its seller is known; to be written
}

// grant begins the lease of a place that was joined at a time. It returns false if the lease was granted
// before.
func (l *lease) grant(epoch int64, r room.Record, joined *int64) bool {
	if l.granted != nil {
		return false
	}
	l.begin(epoch, r)
	l.joined, l.granted, l.expires, l.changed = joined, new(r.GrantedAt), new(r.ExpiresAt), true
	return true
}

func (l *lease) extend(r room.Record) {
	if l.known {
		l.expires, l.changed = new(r.ExpiresAt), true
	}
}

// end returns false if the lease ended before. The first outcome stays.
func (l *lease) end(epoch int64, r room.Record) bool {
	if l.outcome != nil {
		return false
	}
	l.begin(epoch, r)
	l.ended, l.outcome, l.changed = new(r.EndedAt), new(string(r.Outcome)), true
	return true
}

// begin sets the lease's place, from its first record.
func (l *lease) begin(epoch int64, r room.Record) {
	if !l.known {
		l.known, l.epoch, l.ticket, l.seller = true, epoch, r.Ticket, plain(r.Seller)
	}
}
