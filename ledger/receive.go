package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// Receive makes a message durable before it is matched, and says what is known of one that came before:
// what it was told, when its fate is known already, since a repeat is told the same for ever; else with At
// alone when it came first, by whichever replica's clock, which is when it was sent for all that we know. One that
// comes with another sender, text or time is an incident, and changes nothing; over a day later it is room.ErrIDUsedAgain. Receive fails at once while the
// database is known to be away (ErrAway), and where it goes away before the incident is recorded: the message goes its way without,
// and the journal brings it, or the incident, here later.
func (l *Ledger) Receive(ctx context.Context, id room.ID, note room.MessageNote) (before *room.Match, err error) {
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

// storeRemembers is for how long the store surely knows what a message was told.
const storeRemembers = 24 * time.Hour

// incidentWithin is how long it may take to record an incident: nobody waits for more than an answer that is known already.
const incidentWithin = 5 * time.Second

// noteReuse records that another message came with the id of one that is known, also where the caller would wait no longer.
func (l *Ledger) recordReuse(ctx context.Context, id room.ID, first knownMessage, note room.MessageNote) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), incidentWithin)
	defer cancel()
	return l.inRoom(ctx, id, func(w *work) error { return w.addReuseIncident(first, note) })
}

func (l *Ledger) receive(ctx context.Context, id room.ID, note room.MessageNote) (k knownMessage, err error) {
	err = l.db.Write(ctx, func(s sqldb.Session) error {
		w := &work{Session: s, id: id}
		found, err := w.insertMessages([]room.MessageNote{note})
		if err == nil {
			k = *found[plain(note.MessageID)]
		}
		return err
	})
	return k, err
}
