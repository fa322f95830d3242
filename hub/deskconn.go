package hub

import "github.com/waitroom/waitroom/hub/socket"

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
func (c *conn) serveDesk(w *socket.Writer, due uint32) {
	d := c.desk
	if due&dueFeed != 0 {
		first := !d.opened
		c.writeFeed(w)
		if first && d.opened {
			due |= dueReplicas
		}
	}
	if d.opened && due&dueReplicas != 0 {
		c.writeShared(w, c.h.replicas.frame(), dueReplicas)
	}
	if d.opened && due&dueBeat != 0 {
		c.writeShared(w, c.h.desks.beat(), dueBeat)
	}
}

// writeFeed writes from where the socket is to the end of the feed, or as far as it takes.
func (c *conn) writeFeed(w *socket.Writer) {
	d := c.desk
	var room [64][]byte
	for {
		for len(d.rest) > 0 {
			if !c.writeShared(w, d.rest[0], dueFeed) {
				return
			}
			d.rest = d.rest[1:]
		}
		frames, ok := d.feed.after(d.next, together, room[:0])
		if !ok {
			if !c.open() {
				return
			}
			continue
		}
		if len(frames) == 0 || !c.SendFrames(w, frames, dueFeed) {
			return
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

// writeShared writes a frame that others are told too.
func (c *conn) writeShared(w *socket.Writer, frame []byte, due uint32) bool {
	return frame == nil || c.SendFrame(w, frame, due)
}
