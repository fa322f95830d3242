package ledger

import (
	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
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

	stored, known, changed bool // it was in the table; somebody has it; it is to be written
}

// join opens the place. It is false where it was joined before.
func (p *place) join(r room.Record) bool {
	if p.joined != nil {
		return false
	}
	p.seller, p.joined = plain(r.Seller), new(r.At)
	p.known, p.changed = true, true
	return true
}

// reuse gives the place to another one who was given its ticket.
func (p *place) reuse(r room.Record) {
	p.seller, p.joined, p.ended, p.outcome, p.fence = plain(r.Seller), new(r.At), nil, nil, nil
	p.changed = true
}

func (p *place) grant(r room.Record) {
	p.begin(r)
	p.fence, p.changed = new(r.Fence), true
}

// end closes the place. It is false where it was closed before: the first outcome stays.
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

// begin is for a place whose join the journal has lost.
func (p *place) begin(r room.Record) {
	if !p.known {
		p.known, p.seller = true, plain(r.Seller)
	}
}

func places(r *run) int { return len(r.batch.placeOrder) }

// readPlaces takes in what the table has of the places.
func readPlaces(s sqldb.Session, runs []*run) error {
	rows, of := dialect.NewRows(count(runs, places), "room TEXT", "epoch BIGINT", "ticket BIGINT"), make(map[string]*run, len(runs))
	for _, r := range runs {
		of[string(r.id)] = r
		for _, p := range r.batch.placeOrder {
			rows.Add(string(r.id), p.epoch, p.ticket)
		}
	}
	return s.EachRow(func(scan func(...any) error) error {
		p, id := place{stored: true, known: true}, ""
		err := scan(&id, &p.epoch, &p.ticket, &p.seller, &p.joined, &p.ended, &p.outcome, &p.fence)
		if err == nil {
			*of[id].batch.places[p.placeKey] = p
		}
		return err
	}, rows, `SELECT t.room, t.epoch, t.ticket, t.seller, t.joined_at, t.ended_at, t.outcome, t.fence`+
		s.Dialect.Matching("places", "t.room = v.room AND t.epoch = v.epoch AND t.ticket = v.ticket"))
}

func writePlaces(s sqldb.Session, runs []*run) error {
	rows := dialect.NewRows(count(runs, places), "room TEXT", "epoch BIGINT", "ticket BIGINT", "seller TEXT", "joined_at BIGINT", "ended_at BIGINT", "outcome TEXT", "fence BIGINT")
	for _, r := range runs {
		for _, p := range r.batch.placeOrder {
			if p.changed {
				r.tally.joined += int(number(!p.stored))
				rows.Add(string(r.id), p.epoch, p.ticket, p.seller, p.joined, p.ended, p.outcome, p.fence)
			}
		}
	}
	return s.ExecRows(rows, `INSERT INTO places (room, epoch, ticket, seller, joined_at, ended_at, outcome, fence)
		SELECT room, epoch, ticket, seller, joined_at, ended_at, outcome, fence FROM v WHERE true ON CONFLICT (room, epoch, ticket) DO UPDATE SET
			seller = excluded.seller, joined_at = excluded.joined_at, ended_at = excluded.ended_at, outcome = excluded.outcome, fence = excluded.fence`)
}
