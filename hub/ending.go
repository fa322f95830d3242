package hub

import "time"

// judgedWithin is how long the end of a turn waits for the ledger's verdict on the message that ended it.
const judgedWithin = time.Second

// ending is a turn that a message has ended. Its sockets get the message before the end. The room's lock
// guards it.
type ending struct {
	judged bool // the ledger has agreed or refused: a lookup from now on has the message, or there is none
	timer  *time.Timer
}

// holdEnd delays the end of a turn on the session's sockets until they have its message, for at most
// judgedWithin.
func (l *localRoom) holdEnd(s *session) {
	s.Here.endSent()
	e := &ending{}
	s.Here.ending = e
	e.timer = time.AfterFunc(judgedWithin, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.Here.ending == e {
			l.releaseEnd(s)
		}
	})
}

// releaseEnd sends the delayed end.
func (l *localRoom) releaseEnd(s *session) {
	s.Here.endSent()
	s.Here.mark(dueState)
}

func (v *visitor) endSent() {
	if v.ending != nil {
		v.ending.timer.Stop()
		v.ending = nil
	}
}

func (v *visitor) judged() {
	if v.ending != nil {
		v.ending.judged = true
	}
}
