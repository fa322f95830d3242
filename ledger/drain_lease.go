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
