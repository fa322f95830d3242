package room

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

var (
	lookQuestion     = newVerb[lookArgs]("look")
	snapshotQuestion = newVerb[struct{}]("snapshot")
)

type lookArgs struct{ Sessions []string }

// LookBatch is the most sessions of one Look.
const LookBatch = 500

// Look returns the room and the places of sessions, all at one version.
//
// The seats are in the order of the sessions, of which there are at most LookBatch. Error: ErrStore.
func (e *Engine) Look(ctx context.Context, id ID, sessions ...string) (View, []Seat, error) {
	a, err := e.ask(ctx, lookQuestion.with(lookArgs{sessions}), id)
	if err != nil {
		return View{}, nil, err
	}
	if len(a.Seats) != len(sessions) {
		return View{}, nil, fmt.Errorf("%w: reply has %d seats for %d sessions", ErrStore, len(a.Seats),
			len(sessions))
	}
	seats := make([]Seat, len(sessions))
	for i, seat := range a.Seats {
		seats[i].Place = seat.Place
		for j := range seat.Messages {
			if err := e.addShown(id, &seats[i], &seat.Messages[j]); err != nil {
				return View{}, nil, err
			}
		}
	}
	for i, session := range sessions {
		e.stood(id, session, Standing{View: a.View, Place: seats[i].Place})
	}
	return a.View, seats, nil
}

// addShown adds a message or an offer to a seat.
func (e *Engine) addShown(id ID, seat *Seat, shown *wire.ShownMessage) error {
	if shown.Kind == "w" {
		seat.Judging = true
		return nil
	}
	m := Message{MessageID: shown.Digest, Unreadable: true}
	if text, err := e.unseal(id, shown.Sealed, aboutMessage(id, shown.Digest)); err == nil {
		m = Message{}
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%w: a message is not readable", ErrStore)
		}
	} else if shown.Kind == "o" { // it cannot be claimed without its id
		return nil
	}
	m.Ticket, m.Fence, m.Late = shown.Ticket, shown.Fence, shown.Late
	m.ReceivedAt, m.ForgetAt = shown.Received, shown.ForgetAt
	if shown.Kind == "o" {
		seat.Offers = append(seat.Offers, Offer{MessageID: m.MessageID, ReceivedAt: m.ReceivedAt,
			ForgetAt: m.ForgetAt})
		return nil
	}
	seat.Messages = append(seat.Messages, m)
	return nil
}

// Stand returns the standing of one session; session "" is a spectator without a place. Error: ErrStore.
func (e *Engine) Stand(ctx context.Context, id ID, session string) (Standing, error) {
	view, seats, err := e.Look(ctx, id, session)
	if err != nil {
		return Standing{}, err
	}
	return Standing{View: view, Place: seats[0].Place, LeaseLength: e.Terms(id).Lease}, nil
}

// Snapshot returns the whole line, for a mirror that missed an event. Error: ErrStore.
func (e *Engine) Snapshot(ctx context.Context, id ID) (Snapshot, error) {
	a, err := e.ask(ctx, snapshotQuestion.with(struct{}{}), id)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{View: a.View, Ranks: a.Ranks}, nil
}

// ask runs a verb that changes nothing but what is due, and records the view in its reply. If Redis refuses
// writes, it runs the verb as read-only.
func (e *Engine) ask(ctx context.Context, c call, id ID) (answer, error) {
	sent := time.Now()
	res, err := e.run(ctx, c, id)
	if NoWrites(err) {
		c.readOnly = true
		res, err = e.run(ctx, c, id)
	}
	if err != nil {
		return answer{}, err
	}
	a, err := e.read(id, res)
	if e.memory.cluster && a.Now != 0 { // no such reply is kept for repeats, so its time is new
		e.timed(id, sent, a.Now)
	}
	return a, err
}
