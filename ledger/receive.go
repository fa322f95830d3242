package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/room"
)

// Receive makes a message durable before it is matched, and returns its earlier arrival, if any. before has
// the answer if that is known, since a repeat always gets the same answer. Otherwise before has only At, the
// first arrival by that replica's clock, which is the best guess of when it was sent.
//
// A message with a known id but another sender, text or time is an incident, and changes nothing. Over a day
// later, Receive returns room.ErrIDUsedAgain. While the database is away, Receive returns sqldb.ErrAway at
// once. If the incident cannot be recorded, Receive returns the error if the message's answer is known.
// Otherwise the message continues without the incident, which the journal brings later.
func (l *Ledger) Receive(ctx context.Context, id room.ID, note room.MessageNote) (before *room.Match,
	err error) {
	k, err := l.receive(ctx, id, note)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if k.differsFrom(note) && note.Received-k.received > storeRemembers.Milliseconds() {
		return nil, fmt.Errorf("receive: %w", room.ErrIDUsedAgain)
	}
	if k.differsFrom(note) {
		err := l.recordReuse(ctx, id, k, note)
		switch {
		case err == nil:
		case k.state == judged: // the store answers the same, and journals the incident
			return nil, fmt.Errorf("receive: %w", err)
		default:
			l.log.WarnContext(ctx, "an incident is not recorded", "kind", "message_id_reused", "room", string(id),
				"message", note.MessageID, "error", err)
		}
	}
	switch {
	case k.state == judged:
		return &k.Match, nil
	case k.received != note.Received:
		return &room.Match{At: k.received}, nil
	}
	return nil, nil
}

// storeRemembers is how long the store keeps a message's answer at least.
const storeRemembers = 24 * time.Hour

// incidentWithin bounds how long a caller waits until an incident is recorded.
const incidentWithin = 5 * time.Second

// recordReuse records that another message came with a known id, even if the caller's ctx ends.
func (l *Ledger) recordReuse(ctx context.Context, id room.ID, first knownMessage,
	note room.MessageNote) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), incidentWithin)
	defer cancel()
	return l.inRoom(ctx, id, func(w *work) error { return w.addReuseIncident(first, note) })
}

func (l *Ledger) receive(ctx context.Context, id room.ID, note room.MessageNote) (k knownMessage, err error) {
	err = l.db.Write(ctx, func(s sqldb.Session) error {
		w := &work{Session: s, id: id}
		found, err := w.insertMessages([]room.MessageNote{note})
		if err == nil {
			k = *found[schema.Plain(note.MessageID)]
		}
		return err
	})
	return k, err
}
