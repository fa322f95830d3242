package hub

// unopened is where a socket is in its feed before it was told anything.
const unopened = -1

// together is how many bytes of small frames go out in one write.
const together = 16 << 10

// source is what a socket of support shows: a room, or all of them.
type source interface {
	// opening is everything there is to tell, as of a place in the feed; false while there is nothing: whoever brings it marks the sockets.
	opening() (opening, bool)
	leave(*conn)
}

// opening is what a socket is told first, and the number of the frame that follows. Many sockets share it.
type opening struct {
	frames [][]byte
	next   int64
}

// desk is what a socket of support is beside a socket. Its session, if there is one, is nobody's presence.
type desk struct {
	who    Watcher
	source source
	feed   *feed
	at     int // index in feed.conns, by the feed's lock
	spot   int // index in desks.conns, by its lock
	turn   int // in which of turns its sign-in is asked again

	// The writer's own.
	rest   [][]byte // of the opening
	next   int64    // number of the frame that is to be written next
	opened bool
}

// serveDesk writes what is due to a socket of support.
func (c *conn) serveDesk(pen *pen, buf []byte, due uint32) []byte {
	d := c.desk
	if due&dueFeed != 0 {
		first := !d.opened
		buf = c.writeFeed(pen, buf)
		if first && d.opened {
			due |= dueReplicas
		}
	}
	if d.opened && due&dueReplicas != 0 {
		c.writeShared(pen, c.h.replicas.frame(), dueReplicas)
	}
	if d.opened && due&dueBeat != 0 {
		c.writeShared(pen, c.h.desks.beat(), dueBeat)
	}
	if due&duePing != 0 {
		buf = c.writePings(pen, buf, duePing)
	}
	return buf
}

// writeFeed writes from where the socket is to the end of the feed, or as far as it takes.
func (c *conn) writeFeed(pen *pen, buf []byte) []byte {
	d := c.desk
	var room [64][]byte
	for {
		for len(d.rest) > 0 {
			if !c.writeShared(pen, d.rest[0], dueFeed) {
				return buf
			}
			d.rest = d.rest[1:]
		}
		frames, ok := d.feed.after(d.next, together, room[:0])
		if !ok {
			if !c.open() {
				return buf
			}
			continue
		}
		if len(frames) == 0 {
			return buf
		}
		var took bool
		if buf, took = c.writeTogether(pen, buf, frames); !took {
			return buf
		}
		d.next += int64(len(frames))
	}
}

// open has the socket told everything, at first and when it is too far behind; false when there is nothing yet.
func (c *conn) open() bool {
	d := c.desk
	o, ok := d.source.opening()
	if !ok {
		return false
	}
	if d.opened {
		c.h.metrics.deskResyncs.Inc()
	}
	d.rest, d.next, d.opened = o.frames, o.next, true
	return true
}

// writeTogether writes frames in one go.
func (c *conn) writeTogether(pen *pen, buf []byte, frames [][]byte) (_ []byte, ok bool) {
	if len(frames) == 1 {
		return buf, c.writeShared(pen, frames[0], dueFeed)
	}
	b := buf[:0]
	for _, f := range frames {
		b = append(b, f...)
	}
	return b, c.send(pen, b, dueFeed) == took
}

// writeShared writes a frame that others are told too.
func (c *conn) writeShared(pen *pen, frame []byte, due uint32) bool {
	return frame == nil || c.sendShared(pen, frame, due) == took
}
