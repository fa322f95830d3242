package hub

import (
	"context"

	"github.com/waitroom/waitroom/room"
)

// lookup is the line of sessions whose seat has to be asked for. One question is under way at a
// time for a room; who comes meanwhile goes into the next. The hall's lock guards it.
type lookup struct {
	running bool
	line    []*session
	ahead   []*session // answered at a version that the mirror has not reached yet
}

// ask has a session looked up.
func (l *hall) ask(s *session) {
	if !s.asked {
		s.asked = true
		l.look.line = append(l.look.line, s)
	}
	l.lookUp()
}

func (l *hall) askAll() {
	for _, s := range l.sessions {
		l.ask(s)
	}
}

func (l *hall) lookUp() {
	// Before the first snapshot an answer could not be told: the snapshot asks for everybody.
	if l.live && !l.look.running && len(l.look.line) > 0 {
		l.look.running = l.h.spawn(l.lookups)
	}
}

func (l *hall) lookups(ctx context.Context) {
	wait := retryFirst
	for {
		batch, ids := l.nextLook()
		if len(batch) == 0 {
			return
		}
		view, seats, err := l.h.engine.Look(ctx, l.id, ids...)
		if err == nil {
			wait = retryFirst
			l.looked(view, batch, seats)
			continue
		}
		l.h.failed(ctx, "look failed", l.id, err)
		l.lookAgain(batch)
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, retryMost)
	}
}

// nextLook takes the next batch; none left ends the run.
func (l *hall) nextLook() (batch []*session, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.look.line), room.LookBatch)
	if n == 0 || l.dead {
		l.look.running, l.look.line = false, nil
		return nil, nil
	}
	batch, l.look.line = l.look.line[:n:n], l.look.line[n:]
	ids = make([]string, n)
	for i, s := range batch {
		s.asked = false
		ids[i] = s.id
	}
	return batch, ids
}

func (l *hall) lookAgain(batch []*session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range batch {
		l.ask(s)
	}
}

// looked takes the answers.
func (l *hall) looked(view room.View, batch []*session, seats []room.Seat) {
	l.mu.Lock()
	for i, s := range batch {
		if len(s.conns) > 0 {
			l.takeSeat(s, view, seats[i])
		}
	}
	l.mu.Unlock()
	l.observe(view)
}

// takeSeat takes an answer; its messages only where the session still has the place they are for.
func (l *hall) takeSeat(s *session, view room.View, found room.Seat) {
	l.placeSeat(s, view, found)
	if s.seat.ticket == found.Ticket && s.learn(shownIn(found)) {
		if l.shown == nil {
			l.shown = make(map[*session]struct{})
		}
		l.shown[s] = struct{}{}
		s.mark(dueMessages)
	}
}

func (l *hall) placeSeat(s *session, view room.View, found room.Seat) {
	if s.epoch == view.Epoch && s.asOf > view.Version && s.asOf >= l.base {
		return // an event told more meanwhile
	}
	if s.epoch == l.m.epoch && view.Epoch < l.m.epoch {
		return // an answer from before the new epoch
	}
	l.setSeat(s, seatOf(found.Place, s.seat), view.Epoch, view.Version)
	switch {
	case l.current(s):
		s.mark(dueState)
	case s.epoch == l.m.epoch && s.asOf > l.m.version:
		l.look.ahead = append(l.look.ahead, s)
	case s.epoch == l.m.epoch && s.asOf < l.base, s.epoch < l.m.epoch:
		l.ask(s) // answered before the snapshot was: events between the two were missed
	}
}

// tellAhead tells those whose answer was ahead of the mirror, now that the mirror has moved.
func (l *hall) tellAhead() {
	waiting := l.look.ahead[:0]
	for _, s := range l.look.ahead {
		switch {
		case l.current(s):
			s.mark(dueState)
		case s.epoch == l.m.epoch && s.asOf > l.m.version:
			waiting = append(waiting, s)
		}
	}
	clear(l.look.ahead[len(waiting):])
	l.look.ahead = waiting
}
