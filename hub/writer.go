package hub

import (
	"context"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// Serve writes what is due to the socket, from the state of this moment.
func (c *conn) Serve(w *socket.Writer, due uint32) {
	if due&dueMessages != 0 { // before the state: whoever stops at the end of its turn is to have its code
		c.writeMessages(w)
	}
	if due&dueState != 0 {
		c.writeState(w)
	}
	if due&dueNotices != 0 {
		c.writeNotices(w)
	}
}

// writeState writes the state, unless the socket has it or it can not be told yet: whoever makes it
// tellable marks the socket again.
func (c *conn) writeState(w *socket.Writer) {
	buf, t, ok := c.state(w.Blank())
	if ok && t.unsent { // they came after Serve was called
		c.writeMessages(w)
	}
	if !ok || !c.Send(w, buf, dueState) {
		return
	}
	first := !c.opened
	c.opened, c.shown = true, t.shown
	c.h.metrics.states.Inc()
	if t.fence != c.lease {
		c.lease = t.fence
		c.link.held(t.fence)
		if t.fence != 0 && !first {
			c.h.metrics.handoff.Observe(c.h.clock.Since(t.granted).Seconds())
		}
	}
	if first && c.session != nil {
		c.Mark(dueMessages, false)
	}
	if t.noticed != c.noticed {
		c.Mark(dueNotices, true)
	}
}

// telling says what a state frame told.
type telling struct {
	shown          mirror.Shown
	fence, granted int64  // when it told of the lock
	noticed        uint32 // the session's latest notice
	unsent         bool   // the session has messages that this socket was not sent
}

// state makes the state frame; ok is false when there is nothing to tell, or nothing yet.
func (c *conn) state(buf []byte) (_ []byte, t telling, ok bool) {
	l := c.room
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.m.Live || c.unsure {
		return buf, t, false
	}
	t.shown = mirror.Shown{Revision: l.m.Revision, Snapshots: l.m.Snapshots}
	st := mirror.Seat{Status: room.Idle}
	if s := c.session; s != nil {
		if !l.m.Current(s) || c.opened && s.Here.ending != nil {
			return buf, t, false
		}
		st, t.shown.Seats, t.noticed = s.Seat, s.Changes, s.Noticed()
		t.unsent = c.opened && len(s.Messages(c.messages, c.h.clock.MS())) > 0
	}
	if c.link != nil && c.replaced() {
		return buf, t, false // it is about to be closed
	}
	if st.Status == room.Locked {
		t.fence, t.granted = st.Fence, l.m.Lease.GrantedAt
	}
	if c.opened && !c.shown.Worth(t.shown) {
		return buf, t, false
	}
	buf, ok = l.shared.appendState(buf, &l.m.State, st, c.h.clock.MS(), c.h.engine.Terms(l.id).Lease)
	if !ok {
		at := l.m.Revision
		c.h.Spawn(func(context.Context) { l.drifted(at) })
	}
	return buf, t, ok
}

// drifted takes a snapshot because a seat and the mirror contradict each other.
func (l *localRoom) drifted(at mirror.Revision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m.Revision == at && !l.m.Reading() {
		l.resync(mirror.ReasonDrift)
	}
}

// writeMessages writes the messages that this socket was not sent yet, and only after its first state.
func (c *conn) writeMessages(w *socket.Writer) {
	if !c.opened || c.session == nil {
		return
	}
	c.room.mu.RLock()
	list := c.link.messages(c.session.Messages(c.messages, c.h.clock.MS()))
	c.room.mu.RUnlock()
	for _, m := range list {
		frame := socket.Text(appendMessage(socket.Blank(512), m)) // a secret: not in the memory that others' frames are made in
		if !c.SendFrame(w, frame, dueMessages) {
			return
		}
		c.messages = m.Number
		c.h.metrics.messages.Inc()
	}
}
