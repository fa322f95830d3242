package hub

import (
	"context"
	"encoding/binary"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// headroom is what a frame's header needs at the most, in front of its payload.
const headroom = 10

// writer is one of the pool.
func (h *Hub) writer(context.Context) {
	pen, buf := newPen(), make([]byte, headroom, 1024)
	var batch [claimed]*conn
	for {
		n := h.queue.pop(batch[:])
		if n == 0 {
			return
		}
		for i, c := range batch[:n] {
			batch[i] = nil
			if due := c.claim(); due != 0 {
				buf = c.serve(pen, buf, due)
				c.release()
			}
		}
	}
}

// serve writes what is due to a socket, from the state of this moment.
func (c *conn) serve(pen *pen, buf []byte, due uint32) []byte {
	if c.desk != nil {
		return c.serveDesk(pen, buf, due)
	}
	if due&dueState != 0 {
		buf = c.writeState(pen, buf[:headroom])
	}
	if due&dueNotices != 0 && c.session != nil {
		buf = c.writeNotices(pen, buf)
	}
	if due&dueMessages != 0 && c.session != nil {
		c.writeMessages(pen)
	}
	if due&(duePing|dueProbe) != 0 {
		buf = c.writePings(pen, buf, due)
	}
	return buf
}

// writePings asks the browser by a ping of the protocol, and on the wheel's turn the page by one of ours too. Both go out together.
func (c *conn) writePings(pen *pen, buf []byte, due uint32) []byte {
	if due&duePing == 0 {
		if c.sendShared(pen, probe, dueProbe) == took {
			c.h.metrics.probes.Inc()
		}
		return buf
	}
	buf = appendPing(buf[:headroom], c.h.clock.ms())
	c.asked.Store(c.h.now()) // before it is: an answer is never older
	if c.send(pen, append(frame(buf), probe...), duePing) == took {
		c.h.metrics.pings.Inc()
	}
	return buf
}

// probe is a ping of the protocol, which the browser answers whatever its page does.
var probe = []byte{opPing, 0}

// writeState writes the state, unless the socket has it or it can not be told yet: whoever makes it
// tellable marks the socket again.
func (c *conn) writeState(pen *pen, buf []byte) []byte {
	buf, t, ok := c.state(buf)
	if !ok {
		return buf
	}
	if c.send(pen, frame(buf), dueState) != took {
		return buf
	}
	first := !c.opened
	c.opened, c.shown = true, t.shown
	c.h.metrics.states.Inc()
	if t.fence != c.lease {
		c.lease = t.fence
		if t.fence != 0 && !first {
			c.h.metrics.handoff.Observe(c.h.clock.since(t.granted).Seconds())
		}
	}
	if first && c.session != nil {
		c.mark(dueMessages, false)
	}
	if t.noticed != c.noticed {
		c.mark(dueNotices, true)
	}
	return buf
}

// telling says what a state frame told.
type telling struct {
	shown          mirror.Shown
	fence, granted int64  // when it told of the lock
	noticed        uint32 // the session's latest notice
}

// state makes the state frame; ok is false when there is nothing to tell, or nothing yet.
func (c *conn) state(buf []byte) (_ []byte, t telling, ok bool) {
	l := c.hall
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.m.Live {
		return buf, t, false
	}
	t.shown = mirror.Shown{Revision: l.m.Revision, Snapshots: l.m.Snapshots}
	st := mirror.Seat{Status: room.Idle}
	if s := c.session; s != nil {
		if !l.m.Current(s) {
			return buf, t, false
		}
		st, t.shown.Seats, t.noticed = s.Seat, s.Changes, s.Noticed()
	}
	if st.Status == room.Locked {
		t.fence, t.granted = st.Fence, l.m.Lease.GrantedAt
	}
	if c.opened && !c.shown.Worth(t.shown) {
		return buf, t, false
	}
	buf, ok = l.shared.appendState(buf, &l.m.State, st, c.h.clock.ms(), c.h.lease)
	if !ok {
		at := l.m.Revision
		c.h.spawn(func(context.Context) { l.drifted(at) })
	}
	return buf, t, ok
}

// drifted takes a snapshot because a seat and the mirror contradict each other.
func (l *hall) drifted(at mirror.Revision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m.Revision == at && !l.m.Reading() {
		l.resync(mirror.ReasonDrift)
	}
}

// writeMessages writes the messages that this socket was not sent yet, and only after its first state.
func (c *conn) writeMessages(pen *pen) {
	if !c.opened {
		return
	}
	c.hall.mu.RLock()
	list := c.session.Messages(c.messages, c.h.clock.ms())
	c.hall.mu.RUnlock()
	for _, m := range list {
		buf := appendMessage(make([]byte, headroom, 512), m)
		if c.send(pen, frame(buf), dueMessages) != took {
			return
		}
		c.messages = m.Number
		c.h.metrics.messages.Inc()
	}
}

// frame puts a text frame's header in front of the payload that starts at headroom.
func frame(buf []byte) []byte {
	n := len(buf) - headroom
	switch {
	case n < 126:
		buf[8], buf[9] = opText, byte(n)
		return buf[8:]
	case n <= 0xffff:
		buf[6], buf[7] = opText, 126
		binary.BigEndian.PutUint16(buf[8:10], uint16(n))
		return buf[6:]
	default:
		buf[0], buf[1] = opText, 127
		binary.BigEndian.PutUint64(buf[2:10], uint64(n))
		return buf
	}
}
