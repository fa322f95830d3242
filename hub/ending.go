package hub

import "time"

// judgedWithin is how long the end of a turn waits for the ledger's verdict on the message that ended it.
const judgedWithin = time.Second

// ending is a turn that a message has ended. Its sockets are sent the message before the end. The room's lock
// guards it.
type ending struct {
	judged bool // the ledger has agreed or refused: a lookup from now on has the message, or there is none
	timer  *time.Timer
}

// holdEnd keeps the end of a turn from the session's sockets until they were sent its message, judgedWithin
// at the most.
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

// releaseEnd has the end sent that was held back.
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
