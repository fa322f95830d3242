package ledger

import (
	"cmp"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// alarm is an incident: a broken rule that a person should look into.
type alarm struct {
	kind       string
	message    string // "" = it is not about one message
	subject    string // distinguishes incidents of a kind that are not about a message
	ticket     int64
	fence      int64
	seller     string
	detail     string
	at         int64
	inTimeline bool // already, from the journal
	trace      string
}

// journalIncident adds an incident that the room's scripts found.
func (w *work) journalIncident(n record) error {
	r := n.Record
	if r.Action == "" {
		return fmt.Errorf("%w: incident without a kind", errMalformed)
	}
	return w.addIncident(n.epoch, alarm{kind: plain(r.Action), message: r.MessageID, subject: r.Who,
		ticket: r.Ticket, fence: r.Fence, seller: r.Seller, detail: plain(r.Reason), at: r.At, inTimeline: true})
}

// addTicketReused adds the incident of a ticket that another seller has already. The time stands for the
// fence, so that a later reuse of the ticket is another incident.
func (w *work) addTicketReused(epoch int64, r room.Record) error {
	return w.addIncident(epoch, alarm{kind: "ticket_reused", subject: fmt.Sprint(epoch, "/", r.Ticket),
		ticket: r.Ticket, fence: r.At /* the ticket may be reused again */, seller: r.Seller, at: r.At,
		detail: "a ticket was given out twice: the store lost writes"})
}

// addIncident writes an incident, once for each kind, subject and fence, and sends and logs it.
func (w *work) addIncident(epoch int64, a alarm) error {
	a.subject = plain(cmp.Or(a.message, a.subject))
	first, err := w.Exec(`INSERT INTO incidents (room, kind, subject, epoch, ticket, fence, detail, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		string(w.id), a.kind, a.subject, epoch, a.ticket, a.fence, a.detail, a.at)
	if err != nil || first == 0 {
		return err
	}
	a.trace = w.trace
	w.alarms = append(w.alarms, a)
	if !a.inTimeline {
		err = w.addTimeline(epoch, "incident/"+a.kind+"/"+a.subject, a.fence,
			room.Record{Type: "incident", At: a.at,
				Ticket: a.ticket, Fence: a.fence, Seller: a.seller, Action: a.kind, Reason: a.detail})
		if err != nil {
			return err
		}
	}
	e := webhookEvent{Ticket: a.ticket, Fence: a.fence, Seller: a.seller, MessageID: a.message, Kind: a.kind,
		Subject: a.subject, Detail: a.detail}
	if a.kind == "ticket_reused" {
		e.Fence = 0
	}
	return w.sendWebhook("incident", a.at, e)
}
