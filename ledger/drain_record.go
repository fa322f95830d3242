package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// effect is what the records of a type do.
type effect struct {
	apply        func(*run, record) error
	place, lease bool // it changes this row of the batch
	alone        bool // it reads or writes tables itself; what comes before is written first
}

// effects has the types that change rows. The others are only in the timeline: away, back, moved, asked, and
// types of later versions.
var effects = map[string]effect{
	"joined":   {apply: (*run).joined, place: true},
	"granted":  {apply: (*run).granted, place: true, lease: true},
	"extended": {apply: (*run).extended, lease: true},
	"ended":    {apply: (*run).ended, place: true, lease: true},
	"message":  {apply: (*run).message},
	"incident": {apply: (*run).journalIncident},
	"epoch":    {apply: (*run).epoch, alone: true},
	"told":     {apply: (*run).replay, alone: true},
	claimed:    {apply: (*run).giveMessage, alone: true},
	assigned:   {apply: (*run).giveMessage, alone: true},
	rejected:   {apply: (*run).rejectMessage, alone: true},
	"action":   {apply: (*run).action, alone: true},
}

func (r *run) apply(n record) error {
	r.trace = n.trace
	if e, ok := effects[n.Type]; ok {
		return e.apply(r, n)
	}
	return nil
}

// joined opens a place. If its ticket has a place already, the store lost writes and issued the ticket twice:
// the row becomes the new place's, the former place is lost if it was open, and an incident is added.
func (r *run) joined(n record) error {
	if n.Ticket <= 0 || n.Seller == "" {
		return fmt.Errorf("%w: place without a ticket or seller", errMalformed)
	}
	p := r.batch.places[placeKey{n.epoch, n.Ticket}]
	if p.join(n.Record) {
		return nil
	}
	former := room.Lost
	if p.outcome != nil {
		former = room.Outcome(*p.outcome)
	} else {
		r.counts.places.end(room.Lost, 1)
		err := r.addTimeline(n.epoch, lostEntry, -n.At, room.Record{Type: "ended", At: n.At, Ticket: n.Ticket,
			Seller: p.seller, Outcome: room.Lost, EndedAt: n.At})
		if err != nil {
			return err
		}
	}
	p.reuse(n.Record)
	r.counts.joined++
	r.counts.places.correct(former, reopened)
	return r.addTicketReused(n.epoch, n.Record)
}

func (r *run) granted(n record) error {
	if n.Ticket <= 0 || n.Fence <= 0 {
		return fmt.Errorf("%w: lease without a ticket or fence", errMalformed)
	}
	p := r.batch.places[placeKey{n.epoch, n.Ticket}]
	p.grant(n.Record)
	if !r.batch.leases[n.Fence].grant(n.epoch, n.Record, p.joined) {
		return fmt.Errorf("%w: fence %d was granted before", errMalformed, n.Fence)
	}
	r.highest = max(r.highest, n.Fence)
	if err := r.sendGranted(n.Record); err != nil || p.outcome == nil {
		return err
	}
	// The store lost this grant after the ledger read it, and another entry ended the place first.
	at, err := r.endOf(n.Fence, max(n.GrantedAt, valueOrZero(p.ended)))
	if err != nil {
		return err
	}
	n.Record = room.Record{At: at, Ticket: n.Ticket, Fence: n.Fence, Seller: n.Seller,
		Outcome: room.Outcome(*p.outcome), EndedAt: at}
	return r.ended(n)
}

func (r *run) extended(n record) error {
	r.batch.leases[n.Fence].extend(n.Record)
	return nil
}

// ended closes a place and its lease, if it had one. An unclaimed lease ends alone; its place stays.
func (r *run) ended(n record) error {
	if n.Ticket <= 0 || n.Outcome == "" {
		return fmt.Errorf("%w: end without a ticket or outcome", errMalformed)
	}
	if n.Outcome != room.Unclaimed && r.batch.places[placeKey{n.epoch, n.Ticket}].end(n.Record) {
		r.counts.places.end(n.Outcome, 1)
	}
	if n.Fence == 0 {
		return nil
	}
	l := r.batch.leases[n.Fence]
	if !l.end(n.epoch, n.Record) {
		return nil
	}
	r.counts.leases.end(n.Outcome, 1)
	r.highest = max(r.highest, n.Fence)
	n.GrantedAt, n.ExpiresAt = valueOrZero(l.granted), valueOrZero(l.expires)
	return r.sendEnded(n.Record)
}

// valueOrZero returns 0 for nil, which stands for not known.
func valueOrZero(at *int64) int64 {
	if at == nil {
		return 0
	}
	return *at
}
