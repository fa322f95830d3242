package ledger

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/room"
)

// Receive makes a message durable before it is matched, and says what is known of one that came before:
// what it was told, when its fate is known already, since a repeat is told the same for ever; else with At
// alone when it came first, by whichever replica's clock, which is when it was sent for all that we know. One that
// comes with another sender, text or time is an incident, and changes nothing. Receive fails at once while the
// database is known to be away (ErrAway): the message goes its way without, and the journal brings it here later.
func (l *Ledger) Receive(ctx context.Context, id room.ID, note room.MessageNote) (before *room.Match, err error) {
	k, err := l.receive(ctx, id, note)
	if err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if k.another(note) {
		if err := l.inRoom(ctx, id, func(w *work) error { return w.reused(k, note) }); err != nil {
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

func (l *Ledger) receive(ctx context.Context, id room.ID, note room.MessageNote) (k known, err error) {
	err = l.db.Write(ctx, func(s sqldb.Session) error {
		w := &work{Session: s, id: id}
		found, err := w.received([]room.MessageNote{note})
		if err == nil {
			k = *found[plain(note.MessageID)]
		}
		return err
	})
	return k, err
}
