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

	known, changed bool // it is in the table; it is to be written
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

// end closes the place. The first outcome stays.
func (p *place) end(r room.Record) {
	if p.outcome != nil {
		return
	}
	if !p.known && r.Fence != 0 {
		p.fence = new(r.Fence)
	}
	p.begin(r)
	p.ended, p.outcome, p.changed = new(r.EndedAt), new(string(r.Outcome)), true
}

// begin is for a place whose join the journal has lost.
func (p *place) begin(r room.Record) {
	if !p.known {
		p.known, p.seller = true, plain(r.Seller)
	}
}

// readPlaces takes in what the table has of the places.
func (w *work) readPlaces(places map[placeKey]*place) error {
	var rows [][]any
	for key := range places {
		rows = append(rows, []any{key.epoch, key.ticket})
	}
	return w.eachRow(func(scan func(...any) error) error {
		p := place{known: true}
		err := scan(&p.epoch, &p.ticket, &p.seller, &p.joined, &p.ended, &p.outcome, &p.fence)
		if err == nil {
			*places[p.placeKey] = p
		}
		return err
	}, `SELECT t.epoch, t.ticket, t.seller, t.joined_at, t.ended_at, t.outcome, t.fence
		FROM (SELECT CAST(value->>0 AS BIGINT) AS epoch, CAST(value->>1 AS BIGINT) AS ticket FROM `+w.rows()+`) q`+
		w.Dialect.Matching("places", "t.room = $1 AND t.epoch = q.epoch AND t.ticket = q.ticket"), rows)
}

func (w *work) writePlaces(places []*place) error {
	var rows [][]any
	for _, p := range places {
		if p.changed {
			rows = append(rows, []any{p.epoch, p.ticket, p.seller, p.joined, p.ended, p.outcome, p.fence})
			p.changed = false
		}
	}
	return w.writeRows(`INSERT INTO places (room, epoch, ticket, seller, joined_at, ended_at, outcome, fence)
		SELECT $1, CAST(value->>0 AS BIGINT), CAST(value->>1 AS BIGINT), value->>2, CAST(value->>3 AS BIGINT), CAST(value->>4 AS BIGINT),
			value->>5, CAST(value->>6 AS BIGINT)
		FROM `+w.rows()+` WHERE true ON CONFLICT (room, epoch, ticket) DO UPDATE SET seller = excluded.seller,
			joined_at = excluded.joined_at, ended_at = excluded.ended_at, outcome = excluded.outcome, fence = excluded.fence`, rows)
}
