package hub

import (
	"context"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

// lookup is the line of sessions whose seat has to be asked for. One question is under way at a
// time for a room; who comes meanwhile goes into the next. The room's lock guards it.
type lookup struct {
	running bool
	line    []*session
}

// ask has a session looked up.
func (l *localRoom) ask(s *session) {
	if !s.Here.asked {
		s.Here.asked = true
		l.look.line = append(l.look.line, s)
	}
	l.lookUp()
}

func (l *localRoom) askAll() {
	for s := range l.m.Sessions() {
		l.ask(s)
	}
}

func (l *localRoom) lookUp() {
	// Before the first snapshot an answer could not be told: the snapshot asks for everybody.
	if l.m.Live && !l.look.running && len(l.look.line) > 0 {
		l.look.running = l.h.Spawn(l.lookups)
	}
}

func (l *localRoom) lookups(ctx context.Context) {
	var wait follow.Backoff
	var pace pace
	for {
		batch, ids := l.nextLook()
		if len(batch) == 0 {
			return
		}
		pace.begin()
		view, seats, err := l.h.engine.Look(ctx, l.id, ids...)
		if err == nil {
			wait.Reset()
			l.looked(view, batch, seats)
			if !pace.rest(ctx, len(batch) == room.LookBatch) {
				return
			}
			continue
		}
		l.h.Failed(ctx, "look failed", l.id, err)
		l.lookAgain(batch)
		if !wait.Wait(ctx) {
			return
		}
	}
}

// nextLook takes the next batch; none left ends the run.
func (l *localRoom) nextLook() (batch []*session, ids []string) {
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
		s.Here.asked = false
		ids[i] = s.ID
	}
	return batch, ids
}

func (l *localRoom) lookAgain(batch []*session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range batch {
		l.ask(s)
	}
}

// looked takes the answers.
func (l *localRoom) looked(view room.View, batch []*session, seats []room.Seat) {
	l.mu.Lock()
	for i, s := range batch {
		if len(s.Here.conns) > 0 {
			l.answer(s, &view, &seats[i])
			l.askLink(s)
		}
	}
	l.mu.Unlock()
	l.observe(view)
}

// answer has the mirror take an answer, and does what that calls for.
func (l *localRoom) answer(s *session, view *room.View, found *room.Seat) {
	a := l.m.Answer(s, view, found)
	if s.Seat.Live() {
		l.standForItself(s)
	}
	if a.Placed.Session != nil {
		l.placed(a.Placed)
		l.unlink((*conn).replaced)
	}
	if a.Tell {
		s.Here.mark(dueState)
	}
	if a.Look {
		l.ask(s)
	}
	if a.Messages {
		s.Here.mark(dueMessages)
	}
	if e := s.Here.ending; e != nil && e.judged && !s.Here.asked { // else it was asked before the ledger's word was there
		l.tellEnd(s)
	}
}
