package hub

import (
	"cmp"
	"slices"

	"github.com/waitroom/waitroom/room"
)

// noticesKept is how many notices a session's sockets may be behind.
const noticesKept = 4

// notice is a word to one session of what support did for it. It is told after the state of that change, or a later one.
type notice struct {
	what           room.Helping
	epoch, version int64
	number         int
}

// notify has the sessions that are here told what support did for them.
func (l *hall) notify(e *room.Event) {
	for i := range e.Notes {
		n := &e.Notes[i]
		if s := l.sessions[n.Session]; s != nil && n.Support != "" {
			s.noticed++
			s.notices = append(s.notices[max(0, len(s.notices)-noticesKept+1):len(s.notices):len(s.notices)],
				notice{n.Support, e.Epoch, e.Version, s.noticed})
			s.mark(dueState | dueNotices)
		}
	}
}

// since lists the notices after a number that a socket which shows a version may be told.
func (s *session) since(number int, epoch, version int64) []notice {
	return slices.DeleteFunc(slices.Clone(s.notices), func(n notice) bool {
		return n.number <= number || cmp.Or(cmp.Compare(n.epoch, epoch), cmp.Compare(n.version, version)) > 0
	})
}

// writeNotices writes the notices whose state the socket shows. Of the others writeState reminds.
func (c *conn) writeNotices(pen *pen, buf []byte) []byte {
	if !c.opened {
		return buf
	}
	c.hall.mu.RLock()
	list := c.session.since(c.noticed, c.epoch, c.version)
	c.hall.mu.RUnlock()
	for _, n := range list {
		buf = appendNotice(buf[:headroom], n, c.h.clock.ms())
		if c.send(pen, frame(buf), dueNotices) != took {
			break
		}
		c.noticed = n.number
	}
	return buf
}

func appendNotice(b []byte, n notice, now int64) []byte {
	b = appendText(b, `{"type":"notice","notice":`, string(n.what))
	return append(appendInt(b, `,"server_time":`, now), '}')
}
