package ledger

import (
	"github.com/waitroom/waitroom/room"
)

type placeKey struct{ epoch, ticket int64 }

// place is a row of places. Times are unix ms; nil is NULL.
type place struct {
	placeKey
	seller        string
	joined, ended *int64
	outcome       *string
	fence         *int64

	stored, known, changed bool // in the table; its seller is known; to be written
}

// join opens the place. It returns false if the place was joined before.
func (p *place) join(r room.Record) bool {
	if p.joined != nil {
		return false
	}
	p.seller, p.joined = plain(r.Seller), new(r.At)
	p.known, p.changed = true, true
	return true
}

// reuse gives the place to another seller, who got the same ticket.
func (p *place) reuse(r room.Record) {
	p.seller, p.joined, p.ended, p.outcome, p.fence = plain(r.Seller), new(r.At), nil, nil, nil
	p.changed = true
}

func (p *place) grant(r room.Record) {
	p.begin(r)
	p.fence, p.changed = new(r.Fence), true
}

// end closes the place. It returns false if the place was closed before: the first outcome stays.
func (p *place) end(r room.Record) bool {
	if p.outcome != nil {
		return false
	}
	if !p.known && r.Fence != 0 {
		p.fence = new(r.Fence)
	}
	p.begin(r)
	p.ended, p.outcome, p.changed = new(r.EndedAt), new(string(r.Outcome)), true
	return true
}

// begin sets the seller of a place whose join is missing in the journal.
func (p *place) begin(r room.Record) {
	if !p.known {
		p.known, p.seller = true, plain(r.Seller)
	}
}
