package hub

import "github.com/waitroom/waitroom/hub/mirror"

// writeNotices writes the notices whose state the socket shows. Of the others writeState reminds.
func (c *conn) writeNotices(pen *pen, buf []byte) []byte {
	if !c.opened {
		return buf
	}
	c.hall.mu.RLock()
	list := c.session.Notices(c.noticed, c.shown.Revision)
	c.hall.mu.RUnlock()
	for _, n := range list {
		buf = appendNotice(buf[:headroom], n, c.h.clock.ms())
		if c.send(pen, frame(buf), dueNotices) != took {
			break
		}
		c.noticed = n.Number
	}
	return buf
}

func appendNotice(b []byte, n mirror.Notice, now int64) []byte {
	b = appendText(b, `{"type":"notice","notice":`, string(n.What))
	return append(appendInt(b, `,"server_time":`, now), '}')
}
