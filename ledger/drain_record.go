package ledger

import (
	"fmt"

	"github.com/waitroom/waitroom/room"
)

func (w *work) applyBatched(b *batch, rec record) error {
	w.trace = rec.trace
	epoch, r := rec.epoch, rec.Record
	switch r.Type {
	case "joined":
		return w.joined(b, epoch, r)
	case "granted":
		return w.granted(b, epoch, r)
	case "extended":
		b.leases[r.Fence].extend(r)
	case "ended":
		return w.ended(b, epoch, r)
	case "message":
		return w.message(b, rec)
	case "incident":
		return w.journalIncident(epoch, r)
	}
	// Other types change no row: away, back, moved, asked, and types of later versions are in the timeline.
	return nil
}

// joined opens a place. If another seller has its ticket, the store lost writes and issued the ticket twice:
// the former place is lost, and an incident is added.
func (w *work) joined(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Seller == "" {
		return fmt.Errorf("%w: place without a ticket or seller", errMalformed)
	}
	p := b.places[placeKey{epoch, r.Ticket}]
	if p.join(r) {
		return nil
	}
	former := room.Lost
	if p.outcome != nil {
		former = room.Outcome(*p.outcome)
	} else {
		w.counts.places.end(room.Lost, 1)
		err := w.addTimeline(epoch, lostEntry, -r.At,
			room.Record{Type: "ended", At: r.At, Ticket: r.Ticket, Seller: p.seller,
				Outcome: room.Lost, EndedAt: r.At})
		if err != nil {
			return err
		}
	}
	p.reuse(r)
	w.counts.joined++
	w.counts.places.correct(former, reopened)
	return w.addIncident(epoch, alarm{kind: "ticket_reused", subject: fmt.Sprint(epoch, "/", r.Ticket),
		ticket: r.Ticket,
		fence:  r.At, detail: "a ticket was given out twice: the store lost writes", at: r.At, seller: r.Seller})
}

func (w *work) granted(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Fence <= 0 {
		return fmt.Errorf("%w: lease without a ticket or fence", errMalformed)
	}
	p := b.places[placeKey{epoch, r.Ticket}]
	p.grant(r)
	if !b.leases[r.Fence].grant(epoch, r, p.joined) {
		return fmt.Errorf("%w: fence %d was granted before", errMalformed, r.Fence)
	}
	b.highest = max(b.highest, r.Fence)
	err := w.sendWebhook("lock.granted", r.At, webhookEvent{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		GrantedAt: r.GrantedAt, ExpiresAt: r.ExpiresAt})
	if err != nil || p.outcome == nil {
		return err
	}
	// The store lost this grant after the ledger read it, and another entry ended the place first.
	at, err := w.endOf(r.Fence, max(r.GrantedAt, valueOrZero(p.ended)))
	if err != nil {
		return err
	}
	return w.ended(b, epoch, room.Record{At: at, Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller,
		Outcome: room.Outcome(*p.outcome), EndedAt: at})
}

// ended closes a place and its lease, if it had one. An unclaimed lease ends alone; its place stays.
func (w *work) ended(b *batch, epoch int64, r room.Record) error {
	if r.Ticket <= 0 || r.Outcome == "" {
		return fmt.Errorf("%w: end without a ticket or outcome", errMalformed)
	}
	if r.Outcome != room.Unclaimed && b.places[placeKey{epoch, r.Ticket}].end(r) {
		w.counts.places.end(r.Outcome, 1)
	}
	if r.Fence == 0 {
		return nil
	}
	l := b.leases[r.Fence]
	if !l.end(epoch, r) {
		return nil
	}
	w.counts.leases.end(r.Outcome, 1)
	b.highest = max(b.highest, r.Fence)
	return w.sendWebhook("lock.ended", r.At,
		webhookEvent{Ticket: r.Ticket, Fence: r.Fence, Seller: r.Seller, Outcome: r.Outcome,
			GrantedAt: valueOrZero(l.granted), ExpiresAt: valueOrZero(l.expires), EndedAt: r.EndedAt})
}

// valueOrZero returns 0 for nil, which stands for not known.
func valueOrZero(at *int64) int64 {
	if at == nil {
		return 0
	}
	return *at
}
