package ledger

import (
	"context"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// Judge reports whether a match may count: it is the second line of defence. The record is the journal's, of
// type message, claimed or assigned, with the journal's time. A verdict is final; a repeat gets the same.
//
// With a nil error, the room has the verdict. After an error it may not have it; the journal then still has
// the match, and the next drain sends the verdict.
//
// Matches are judged in the order in which the room made them, so Judge drains the room's journal first. The
// journal has this match too.
func (l *Ledger) Judge(ctx context.Context, id room.ID, epoch int64, r room.Record) (agree bool, err error) {
	sent, err := l.drain(ctx, []room.ID{id})
	if agree, ok := sent[settledMatch{id, matchOf(r)}]; ok {
		return agree, nil // even if a later entry failed
	}
	if err != nil {
		return false, fmt.Errorf("judge: %w", err)
	}
	agree, err = l.judgeLost(ctx, id, epoch, r)
	if err != nil {
		return false, fmt.Errorf("judge: %w", err)
	}
	return agree, nil
}

// judgeLost judges a match that is not in the journal. Another replica may have drained it; otherwise the
// journal lost it, and the caller's record is judged. judgeLost sends the verdict to the room in either case,
// since the other replica may have died.
func (l *Ledger) judgeLost(ctx context.Context, id room.ID, epoch int64, r room.Record) (agree bool,
	err error) {
	r.Judge = true
	found := false
	err = l.reading(ctx, id, func(w *work) (err error) {
		agree, found, err = w.verdictOn(r)
		return err
	})
	if err == nil && !found {
		err = l.inRoom(ctx, id, func(w *work) error {
			n := record{recordKey: recordKey{epoch: epoch}, Record: r}
			if err := applyInOrder(w.Session, []*run{{work: w, records: []record{n}}}); err != nil {
				return err
			}
			if len(w.verdicts) == 0 {
				return fmt.Errorf("%w: it is no match", errMalformed)
			}
			agree = w.verdicts[0].agreed
			return nil
		})
	}
	if err != nil {
		return false, err
	}
	return agree, l.settleMatch(ctx, id, verdict{matchOf(r), agree})
}

// match is a decision that a message belongs to a lease, by the room, a holder or support.
type match struct {
	kind      string // claimed: a holder's; assigned: support's; "": the room's
	messageID string
	fence     int64
}

func matchOf(r room.Record) match {
	m := match{messageID: r.MessageID, fence: r.Fence}
	if gives(r.Type) {
		m.kind = r.Type
	}
	return m
}

// verdict is the ledger's answer to a match.
type verdict struct {
	match
	agreed bool
}

// addVerdict adds a new verdict.
func (w *work) addVerdict(r room.Record, agree bool) {
	w.judged++
	if !agree {
		w.refusals++
	}
	w.repeatVerdict(r, agree)
}

// repeatVerdict adds an earlier verdict, to be sent to the room in the journal's order.
func (w *work) repeatVerdict(r room.Record, agree bool) {
	w.verdicts = append(w.verdicts, verdict{matchOf(r), agree})
}

// verdictOn returns the verdict on a match. A match to another lease than the message's first is refused.
func (w *work) verdictOn(r room.Record) (agree, found bool, err error) {
	if gives(r.Type) {
		verdict, found, err := w.findAttribution(r)
		return verdict == agreed, found, err
	}
	var verdict string
	var fence int64
	err = w.Row(`SELECT verdict, fence FROM messages WHERE room = $1 AND message_id = $2 AND state = 'judged'`,
		string(w.id), plain(r.MessageID)).Scan(&verdict, &fence)
	if noRows(err) {
		return false, false, nil
	}
	return verdict == agreed && fence == r.Fence, err == nil, err
}
