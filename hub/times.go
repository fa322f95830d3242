package hub

import (
	"encoding/json"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// notices are a room's announcement as each reader's frame has it.
type notices struct {
	of     wire.BySupport
	first  []byte            // for languages that the announcement does not have; nil = there is none
	others map[string][]byte // by language
}

// set sets what support announces at a time, in unix ms.
func (n *notices) set(s *wire.BySupport, now int64) {
	if s != nil && now < s.NoticeUntil && n.of == *s {
		return
	}
	announced := s.Announced(now)
	if *n = (notices{}); announced == nil {
		return
	}
	*n = notices{of: *s, others: make(map[string][]byte, len(announced.Texts))}
	for _, w := range announced.Texts {
		text, err := json.Marshal(s.NoticeIn(w.Lang, now))
		if err != nil {
			text = []byte("null") // strings always marshal
		}
		n.others[w.Lang] = text
		if n.first == nil {
			n.first = text
		}
	}
}

// in returns the notice for a reader of a language, as JSON.
func (n *notices) in(lang string) []byte {
	if text := n.others[lang]; text != nil {
		return text
	}
	if n.first != nil {
		return n.first
	}
	return []byte("null")
}

// redraw sets the parts of frames that all sockets share. It sets those that time changes only at first and
// when support's settings have changed: visits follow the time. The room's lock guards it.
func (l *localRoom) redraw() {
	l.shared.state(&l.m.State)
	if !l.shared.timed || !l.m.Room.Support.Equal(l.shared.support) {
		l.setTimes()
	}
}

// setTimes sets what time alone changes of a frame: whether the room is open, and its notice. It reports
// whether either has changed. The room's lock guards it.
func (l *localRoom) setTimes() bool {
	now, s := l.h.clock.MS(), &l.shared
	opens, until := s.opens, s.notices.of.NoticeUntil
	s.timed, s.support = true, l.m.Room.Support
	s.opens = l.h.engine.OpensAt(l.id, l.m.Room.Support, now)
	s.notices.set(l.m.Room.Support, now)
	return opens != s.opens || until != s.notices.of.NoticeUntil
}

// followTimes sends every socket a frame when time alone has opened or closed the room, or has ended its
// notice, and when the room's hours have changed.
func (l *localRoom) followTimes() {
	l.mu.Lock()
	changed := l.m.Live && l.setTimes()
	if changed {
		l.back.behind(time.Now())
		if l.desk != nil {
			l.desk.Times()
		}
	}
	l.mu.Unlock()
	if changed {
		l.back.flush()
	}
}
