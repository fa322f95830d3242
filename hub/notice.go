package hub

import (
	"github.com/waitroom/waitroom/hub/frame"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
)

// writeNotices writes the notices whose state the socket shows. For the others, writeState marks the socket
// again.
func (c *conn) writeNotices(w *socket.Writer) {
	if !c.opened || c.session == nil {
		return
	}
	c.room.mu.RLock()
	list := c.session.Notices(c.noticed, c.sent.Revision)
	c.room.mu.RUnlock()
	for _, n := range list {
		if !c.Send(w, appendNotice(w.Blank(), n, c.h.clock.MS()), dueNotices) {
			return
		}
		c.noticed = n.Number
	}
}

func appendNotice(b []byte, n mirror.Notice, now int64) []byte {
	b = frame.Word(b, `{"type":"notice","notice":`, string(n.What))
	return append(frame.Int(b, `,"server_time":`, now), '}')
}
