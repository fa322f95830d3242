package read

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room/wire"
)

// Lost is a message without a lease, or a late one, with the leases that could have caused it.
type Lost struct {
	history.Message
	Sender, Body string // masked
	Code         bool   // it contains a code
	Could        []history.Lease
}

// Incident is an event that a person should look at, such as a broken rule or a clock that is off.
type Incident struct {
	Kind, Subject, Detail string
	Epoch, Ticket, Fence  int64
	At                    int64 // unix ms
}

// Troubles returns lost messages and incidents since an instant (unix ms), latest first, at most `most` of
// each. A message that was claimed or assigned is not lost.
func (r *Reader) Troubles(ctx context.Context, id wire.ID, since int64, most int) (lost []Lost,
	seen []Incident, err error) {
	most = limit(most)
	err = r.reading(ctx, id, func(w *work) error {
		if lost, err = w.lost(since, most); err != nil {
			return err
		}
		seen, err = w.incidents(since, most)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("troubles: %w", err)
	}
	return lost, seen, nil
}

// lost reads the messages that are unassigned.
func (w *work) lost(since int64, limit int) (list []Lost, err error) {
	err = w.Each(func(scan func(...any) error) error {
		var m Lost
		err := scan(append(belongsTo(&m.Message), &m.Sender, &m.Body, &m.Code)...)
		list = append(list, m)
		return err
	}, `SELECT `+belongsColumns+`, sender, body, code FROM messages WHERE room = $1
		AND received_at >= $2 AND `+unassigned+`
		ORDER BY received_at DESC, message_id LIMIT $3`, string(w.id), since, limit)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Could, err = w.could(list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

const (
	couldCause = int64(wire.AskOpenFor / time.Millisecond) // how long after its end a lease may cause a message
	couldLast  = int64(time.Hour / time.Millisecond)       // longer than any lease
	mostCould  = 100
)

// could returns the leases that could have caused a message, latest first. They were live when it was sent,
// or in the ten minutes before.
func (w *work) could(m Lost) (list []history.Lease, err error) {
	from := int64(cmp.Or(m.SentAt, m.ReceivedAt))
	to := from
	if m.SentAt != 0 && from%schema.WholeSecond == 0 {
		to += schema.WholeSecond - 1
	}
	err = w.Each(func(scan func(...any) error) error {
		var r history.Lease
		err := scan(&r.Epoch, &r.Fence, &r.Ticket, &r.Seller, &r.GrantedAt, &r.EndedAt, &r.Outcome)
		list = append(list, r)
		return err
	}, `SELECT epoch, fence, ticket, seller, COALESCE(granted_at, 0), COALESCE(ended_at, 0), COALESCE(outcome,
		'') FROM leases
		WHERE room = $1 AND COALESCE(granted_at, ended_at, 0) > $2 AND COALESCE(granted_at, ended_at, 0) <= $3
			AND (ended_at IS NULL OR ended_at > $4)
		ORDER BY COALESCE(granted_at, ended_at, 0) DESC, fence DESC LIMIT $5`,
		string(w.id), from-couldCause-couldLast, to, from-couldCause, mostCould)
	return list, err
}

func (w *work) incidents(since int64, limit int) (list []Incident, err error) {
	err = w.Each(func(scan func(...any) error) error {
		var i Incident
		err := scan(&i.Kind, &i.Subject, &i.Detail, &i.Epoch, &i.Ticket, &i.Fence, &i.At)
		list = append(list, i)
		return err
	}, `SELECT kind, subject, detail, epoch, ticket, fence, at FROM incidents WHERE room = $1 AND at >= $2
		ORDER BY at DESC, kind, subject, fence LIMIT $3`, string(w.id), since, limit)
	return list, err
}
