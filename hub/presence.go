package hub

import (
	"context"
	"time"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

const (
	presenceBatch = 200 // sessions one call names: fewer than the engine takes, so that no other request waits long behind it
	presenceAgain = 200 * time.Millisecond
)

// presence is what the engine is told of who is here: once, when somebody who waits comes, and when the last of its sockets is gone. What may have been told
// counts as told until the opposite was: a call that failed may have done what it was to do. The hall's lock guards it.
type presence struct {
	came    []string             // to be told; some may have gone since
	went    map[string]departure // to be told, by session
	silent  map[string]*session  // told to be gone, since they do not answer
	telling bool
}

// waits reports whether there is something to be told.
func (p *presence) waits() bool { return len(p.came)+len(p.went) > 0 }

// departure is a session that was here, and is not.
type departure struct {
	host  room.ReplicaNumber // under which it was told to be here; 0 = it was not
	heard int64     // when it was last heard of, ns of the hub's clock
}

// presentAgain has it told that a session is here, where it waits; also where that was told: the engine may have forgotten.
func (l *hall) presentAgain(s *session) {
	if s.Seat.Status != room.Waiting || s.Here.coming || l.who.silent[s.ID] != nil {
		return
	}
	s.Here.coming = true
	l.who.came = append(l.who.came, s.ID)
	l.tellPresence()
}

// absent has it told that a session is not here, since it was last heard of; also where its coming was not told: it was here, and may wait by now.
func (l *hall) absent(s *session, heard int64) {
	if l.who.went == nil {
		l.who.went = make(map[string]departure)
	}
	l.who.went[s.ID] = departure{s.Here.told, heard}
	s.Here.told = 0
	l.tellPresence()
}

// returned takes back that a session has gone, where that was not told yet.
func (l *hall) returned(s *session) {
	if d, ok := l.who.went[s.ID]; ok && (d.host == 0 || d.host == l.h.host()) {
		delete(l.who.went, s.ID)
		s.Here.told = d.host
	}
}

// silenced has it told that a session does not answer, as long as it does not.
func (l *hall) silenced(s *session, heard int64) {
	if l.who.silent[s.ID] == nil {
		if l.who.silent == nil {
			l.who.silent = make(map[string]*session)
		}
		l.who.silent[s.ID] = s
		l.absent(s, heard)
	}
}

// answered has it told of those that were silent and have answered.
func (l *hall) answered() {
	for id, s := range l.who.silent {
		if !l.h.silent(&s.Here, s.Here.heard()) {
			delete(l.who.silent, id)
			l.presentAgain(s)
		}
	}
}

// tellAnew has it told again of everybody: the store lost what it was told, or it was told under another number.
func (l *hall) tellAnew() {
	for s := range l.m.Sessions() {
		l.presentAgain(s)
	}
	l.tellPresence()
}

func (l *hall) tellPresence() {
	if !l.who.telling {
		l.who.telling = l.h.spawn(l.tellPresences)
	}
}

// attendance is what one call tells.
type attendance struct {
	host room.ReplicaNumber
	came []string
	gone []room.Gone
}

// tellPresences tells who came and went, as many at a time as there are by then, until all is told.
func (l *hall) tellPresences(ctx context.Context) {
	wait := follow.Backoff{Most: presenceAgain}
	var pace pace
	for {
		a, ok := l.nextAttendance()
		if !ok {
			return
		}
		pace.begin()
		view, err := l.tellAttendance(ctx, a)
		if err == nil {
			wait.Reset()
			l.observe(view)
			if !pace.rest(ctx, false) {
				return
			}
			continue
		}
		l.h.failed(ctx, "presence not told", l.id, err)
		l.untold(a)
		if !wait.Wait(ctx) {
			return
		}
	}
}

func (l *hall) tellAttendance(ctx context.Context, a attendance) (room.View, error) {
	if len(a.came) > 0 {
		if err := l.h.attend.ensure(ctx, l.id, a.host); err != nil {
			return room.View{}, err
		}
	}
	return l.h.engine.Presence(ctx, l.id, a.host, l.h.calls.Add(1), a.came, a.gone)
}

// nextAttendance takes what is to be told; false where there is nothing, or no number to tell it under: the heartbeat has it tried again.
func (l *hall) nextAttendance() (attendance, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, now := attendance{host: l.h.host()}, l.h.now()
	if l.h.beats(now) {
		for id, d := range l.who.went {
			if len(a.gone) == presenceBatch {
				break
			}
			if d.host == 0 {
				d.host = a.host
			}
			a.gone = append(a.gone, room.Gone{Session: id, Host: d.host, For: time.Duration(now - d.heard)})
			delete(l.who.went, id)
		}
		a.came = l.coming(presenceBatch-len(a.gone), a.host)
	} else if l.who.waits() {
		l.h.refused.Store(true)
	}
	l.who.telling = len(a.came)+len(a.gone) > 0
	return a, l.who.telling
}

// coming takes up to n sessions that have come and are still here.
func (l *hall) coming(n int, host room.ReplicaNumber) (came []string) {
	for len(l.who.came) > 0 && len(came) < n {
		id := l.who.came[0]
		l.who.came = l.who.came[1:]
		s := l.m.Session(id)
		if s == nil || !s.Here.coming {
			continue
		}
		s.Here.coming = false
		if l.who.silent[id] == nil {
			s.Here.told = host
			came = append(came, id)
		}
	}
	if len(l.who.came) == 0 {
		l.who.came = nil
	}
	return came
}

// untold has told again what a call that failed was to tell.
func (l *hall) untold(a attendance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.h.now()
	for _, g := range a.gone {
		s := l.m.Session(g.Session)
		if s != nil && l.who.silent[g.Session] == nil { // it is back, and was perhaps not told to be gone
			if s.Here.told == 0 {
				s.Here.told = g.Host
			}
			continue
		}
		if l.who.went == nil {
			l.who.went = make(map[string]departure)
		}
		if _, newer := l.who.went[g.Session]; !newer {
			l.who.went[g.Session] = departure{g.Host, now - int64(g.For)}
		}
	}
	for _, id := range a.came {
		if s := l.m.Session(id); s != nil {
			l.presentAgain(s)
		}
	}
}
