package hub

import "time"

// judgedWithin is how long the end of a turn waits for the ledger's word on the message that ended it.
const judgedWithin = time.Second

// ending is a turn that a message has ended, whose sockets are told of the end after the message. The room's lock guards it.
type ending struct {
	judged bool // the ledger has agreed or refused: what is asked from now on has the message, or there is none
	timer  *time.Timer
}

// holdEnd keeps the end of a turn from the session's sockets until they were told its message, judgedWithin at the most.
func (l *localRoom) holdEnd(s *session) {
	s.Here.endTold()
	e := &ending{}
	s.Here.ending = e
	e.timer = time.AfterFunc(judgedWithin, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.Here.ending == e {
			l.tellEnd(s)
		}
	})
}

// tellEnd tells what was held back.
func (l *localRoom) tellEnd(s *session) {
	s.Here.endTold()
	s.Here.mark(dueState)
}

func (v *visitor) endTold() {
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
