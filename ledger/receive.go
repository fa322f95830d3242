package ledger

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// Receive makes a message durable before it is matched, and says what is known of one that came before:
// what it was told, when its fate is known already, since a repeat is told the same for ever; else with At
// alone when it came first, which is when it was sent for all that we know. It fails at once while the database is known to
// be away (ErrAway): the message goes its way without, and the journal brings it here later.
func (l *Ledger) Receive(ctx context.Context, id room.ID, note room.MessageNote) (before *room.Match, err error) {
	done, err := l.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	err = l.guard(ctx, func() error {
		w := &work{Querier: l.db, ctx: ctx, dialect: l.dialect, id: id}
		k, err := w.received(note)
		switch {
		case err != nil:
		case k.state == judged:
			before = &k.Match
		case k.received < note.Received:
			before = &room.Match{At: k.received}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("receive: %w", l.clean(err))
	}
	return before, nil
}

// Judge is the second line of defence: whether a match may count. The verdict is for ever, a repeat is
// told the same. Matches are judged in the order in which the room made them, so it takes in the
// room's journal first, which has this very match. An error means that it is not judged yet: the
// journal has it, and the verdict is given and told when it can be.
func (l *Ledger) Judge(ctx context.Context, id room.ID, epoch int64, m room.Record) (agree bool, err error) {
	if err := l.Drain(ctx, id); err != nil {
		return false, fmt.Errorf("judge: %w", err)
	}
	agree, found, err := l.verdict(ctx, id, m)
	if err != nil || found {
		return agree, err
	}
	// The journal lost it: judged by what the caller knows.
	err = l.inRoom(ctx, id, func(w *work) error { return w.message(epoch, m) })
	if err != nil {
		return false, fmt.Errorf("judge: %w", err)
	}
	agree, _, err = l.verdict(ctx, id, m)
	return agree, err
}

// verdict looks up the verdict on a match. One to another lease than the message's first is refused.
func (l *Ledger) verdict(ctx context.Context, id room.ID, m room.Record) (agree, found bool, err error) {
	err = l.guard(ctx, func() error {
		var verdict string
		w := &work{Querier: l.db, ctx: ctx, dialect: l.dialect, id: id}
		var fence int64
		err := w.row(`SELECT verdict, fence FROM messages WHERE room = $1 AND message_id = $2 AND state = 'judged'`,
			string(id), plain(m.MessageID)).Scan(&verdict, &fence)
		if noRows(err) {
			return nil
		}
		agree, found = verdict == agreed && fence == m.Fence, err == nil
		return err
	})
	if err != nil {
		return false, false, fmt.Errorf("read verdict: %w", l.clean(err))
	}
	return agree, found, nil
}
