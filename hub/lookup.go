package hub

import (
	"context"

	"github.com/waitroom/waitroom/hub/batch"
	"github.com/waitroom/waitroom/room"
)

// seatLookup asks the engine for sessions' seats. A room has one lookup in progress at a time; sessions that
// come meanwhile are in the next one. The room's lock guards it.
type seatLookup struct {
	l       *localRoom
	running bool
	queue   []*session
}

// ask looks up a session.
func (k *seatLookup) ask(s *session) {
	if !s.Here.asked {
		s.Here.asked = true
		k.queue = append(k.queue, s)
	}
	// Before the first snapshot an answer could not be sent: the snapshot has every session looked up.
	if k.l.m.Live && !k.running && len(k.queue) > 0 {
		k.running = k.l.h.spawn(k.run)
	}
}

func (k *seatLookup) askAll() {
	for s := range k.l.m.Sessions() {
		k.ask(s)
	}
}

func (k *seatLookup) run(ctx context.Context) {
	batch.Worker[[]*session]{
		Next: k.next, Call: k.call, Return: k.restore, Paced: true,
		Full:   func(list []*session) bool { return len(list) == room.LookBatch },
		Failed: func(ctx context.Context, err error) { k.l.h.failed(ctx, "look failed", k.l.id, err) },
	}.Run(ctx)
}

// next takes the next sessions off the queue; it returns false if the queue is empty.
func (k *seatLookup) next() ([]*session, bool) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	n := min(len(k.queue), room.LookBatch)
	if n == 0 || k.l.dead {
		k.running, k.queue = false, nil
		return nil, false
	}
	list := k.queue[:n:n]
	k.queue = k.queue[n:]
	for _, s := range list {
		s.Here.asked = false
	}
	return list, true
}

func (k *seatLookup) call(ctx context.Context, list []*session) error {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	view, seats, err := k.l.h.engine.Look(ctx, k.l.id, ids...)
	if err == nil {
		k.take(view, list, seats)
	}
	return err
}

func (k *seatLookup) restore(list []*session) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	for _, s := range list {
		k.ask(s)
	}
}

// take handles the answers.
func (k *seatLookup) take(view room.View, list []*session, seats []room.Seat) {
	k.l.mu.Lock()
	for i, s := range list {
		if len(s.Here.conns) > 0 {
			k.answer(s, &view, &seats[i])
			k.l.linkLookup.ask(s)
		}
	}
	k.l.mu.Unlock()
	k.l.snapshots.observe(view)
}

// answer gives the mirror an answer, and carries out its effects.
func (k *seatLookup) answer(s *session, view *room.View, found *room.Seat) {
	l := k.l
	a := l.m.Answer(s, view, found)
	if s.Seat.Live() {
		l.links.standForItself(s)
	}
	if a.Placed {
		l.placed(s)
		l.links.comeBack(l.links.Replaced())
	}
	if a.Changed {
		s.Here.mark(dueState)
	}
	if a.Look {
		k.ask(s)
	}
	if a.Messages {
		s.Here.mark(dueMessages)
	}
	if s.Here.asked {
		return // this call began before something that the next answer is to have
	}
	for _, c := range s.Here.conns {
		if c.looking {
			c.looking = false
			c.Mark(dueMessages, true)
		}
	}
	if e := s.Here.ending; e != nil && e.judged {
		l.releaseEnd(s)
	}
}
