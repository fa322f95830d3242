package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room"
)

// batch holds the places, leases and messages that a run of records changes. They are read at once, changed
// in memory in the journal's order, and written at once. The transaction is alone in its room, so no other
// writer changes them in between.
type batch struct {
	places     map[placeKey]*place
	leases     map[int64]*lease
	placeOrder []*place // in the order of the journal
	leaseOrder []*lease
	highest    int64 // fence that the run granted or ended

	messages  map[string]*knownMessage
	facts     map[recordKey]facts // of the run's matches, as of before the run
	concluded *dialect.Rows
	verified  []verification
}

func newBatch() batch {
	return batch{places: make(map[placeKey]*place), leases: make(map[int64]*lease),
		facts: make(map[recordKey]facts), concluded: newConcluded()}
}

// applyBatch applies the runs' next records.
func applyBatch(s sqldb.Session, runs []*run) error {
	if err := load(s, runs); err != nil {
		return err
	}
	for _, r := range runs {
		for _, n := range r.next {
			if err := r.deadLetterMalformed(n, r.apply(n)); err != nil {
				return err
			}
			if err := r.push(n.Record); err != nil {
				return err
			}
		}
	}
	return write(s, runs)
}

// load reads the rows that the runs' next records change.
func load(s sqldb.Session, runs []*run) error {
	for _, r := range runs {
		r.batch = newBatch()
		for _, n := range r.next {
			r.plan(n)
		}
	}
	if err := readPlaces(s, runs); err != nil {
		return fmt.Errorf("read places: %w", err)
	}
	if err := readLeases(s, runs); err != nil {
		return fmt.Errorf("read leases: %w", err)
	}
	for _, r := range runs {
		if err := r.readMessages(); err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
	}
	return nil
}

// plan adds the rows that a record changes, still empty.
func (b *batch) plan(n record) {
	e, key := effects[n.Type], placeKey{n.epoch, n.Ticket}
	if e.place && b.places[key] == nil {
		p := &place{placeKey: key}
		b.places[key], b.placeOrder = p, append(b.placeOrder, p)
	}
	if e.lease && b.leases[n.Fence] == nil {
		l := &lease{fence: n.Fence}
		b.leases[n.Fence], b.leaseOrder = l, append(b.leaseOrder, l)
	}
}

func countPlaces(r *run) int { return len(r.batch.placeOrder) }

// readPlaces fills in the places that the table has.
func readPlaces(s sqldb.Session, runs []*run) error {
	rows, of := dialect.NewRows(countAll(runs, countPlaces), "room TEXT", "epoch BIGINT", "ticket BIGINT"),
		make(map[string]*run, len(runs))
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

func countLeases(r *run) int { return len(r.batch.leaseOrder) }

// readLeases fills in the leases that the table has.
func readLeases(s sqldb.Session, runs []*run) error {
	rows, of := dialect.NewRows(countAll(runs, countLeases), "room TEXT", "fence BIGINT"),
		make(map[string]*run, len(runs))
	for _, r := range runs {
		of[string(r.id)] = r
		for _, l := range r.batch.leaseOrder {
			rows.Add(string(r.id), l.fence)
		}
	}
	return s.EachRow(func(scan func(...any) error) error {
		l, id := lease{stored: true, known: true}, ""
		err := scan(&id, &l.fence, &l.epoch, &l.ticket, &l.seller, &l.joined, &l.granted, &l.expires, &l.ended,
			&l.outcome)
		if err == nil {
			*of[id].batch.leases[l.fence] = l
		}
		return err
	}, rows, `SELECT t.room, t.fence, t.epoch, t.ticket, t.seller, t.joined_at, t.granted_at,
		t.expires_at, t.ended_at, t.outcome`+
		s.Dialect.Matching("leases", "t.room = v.room AND t.fence = v.fence"))
}

// readMessages inserts the messages, and loads the facts for those that are to be judged.
func (r *run) readMessages() error {
	var records []record
	var all []room.MessageNote
	for _, n := range r.next {
		if n.Type == "message" && complete(n.Record) {
			records, all = append(records, n), append(all, n.MessageNote)
		}
	}
	var err error
	if r.messages, err = r.insertMessages(all); err != nil {
		return err
	}
	var keys []recordKey
	var matches []room.Record
	for _, n := range records {
		if n.Judge && r.messages[plain(n.MessageID)].state != judged {
			keys, matches = append(keys, n.recordKey), append(matches, n.Record)
		}
	}
	found, err := r.work.factsOf(matches)
	if err != nil {
		return err
	}
	for i, key := range keys {
		r.facts[key] = found[i]
	}
	return nil
}

// factsAbout returns a match's facts, with the changes of the run so far. Facts about the message itself need
// no update: an answered message is not judged again, and records that give a message to a lease are alone.
func (b *batch) factsAbout(match record) facts {
	f := b.facts[match.recordKey]
	for _, v := range b.verified {
		f.settled = f.settled || v.Fence > match.Fence || v.Fence == match.Fence && v.Completes
		f.overlapping = f.overlapping || v.EndedAt > match.GrantedAt && v.GrantedAt < match.EndedAt &&
			v.Fence != match.Fence
	}
	f.passed = f.passed || b.highest > match.Fence
	if l := b.leases[match.Fence]; l != nil && l.outcome != nil {
		f.outcome = *l.outcome
	}
	return f
}
