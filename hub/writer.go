package hub

import (
	"context"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// Serve writes the frames that the socket is due, from the current state.
func (c *conn) Serve(w *socket.Writer, due uint32) {
	// messages go before the state, since a program may stop at the end of its turn and needs its code
	if due&dueMessages != 0 {
		c.writeMessages(w)
	}
	if due&dueState != 0 {
		c.writeState(w)
	}
	if due&dueNotices != 0 {
		c.writeNotices(w)
	}
}

// writeState writes the state, unless the socket has it or it cannot be sent yet. The change that makes it
// possible marks the socket again.
func (c *conn) writeState(w *socket.Writer) {
	buf, t, ok := c.state(w.Blank())
	if ok && t.unsent { // they came after Serve was called
		c.writeMessages(w)
	}
	if !ok || !c.Send(w, buf, dueState) {
		return
	}
	first := !c.opened
	c.opened, c.sent = true, t.sent
	c.h.metrics.states.Inc()
	if t.fence != c.fence {
		c.fence = t.fence
		c.link.Held(t.fence)
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

// sentState has the contents of a state frame.
type sentState struct {
	sent           mirror.Sent
	fence, granted int64  // of the lock, where the frame has that
	noticed        uint32 // the session's latest notice
	unsent         bool   // the session has messages that this socket was not sent
}

// state makes the state frame; ok is false if there is nothing to send yet.
func (c *conn) state(buf []byte) (_ []byte, t sentState, ok bool) {
	l := c.room
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.m.Live || c.pending {
		return buf, t, false
	}
	t.sent = mirror.Sent{Revision: l.m.Revision, Snapshots: l.m.Snapshots, OpensAt: l.shared.opens,
		NoticeUntil: l.shared.notices.of.NoticeUntil}
	st := mirror.Seat{Status: room.Idle}
	if s := c.session; s != nil {
		if !l.m.Current(s) || c.opened && s.Here.ending != nil {
			return buf, t, false
		}
		st, t.sent.Seats, t.noticed = s.Seat, s.Changes, s.Noticed()
		t.unsent = c.opened && len(s.Messages(c.messages, c.h.clock.MS())) > 0
	}
	if c.link != nil && c.link.Replaced(&c.session.Seat) {
		return buf, t, false // it is about to be closed
	}
	if st.Status == room.Locked {
		t.fence, t.granted = st.Fence, l.m.Lease.GrantedAt
	}
	if c.opened && !c.sent.Worth(t.sent) {
		return buf, t, false
	}
	buf, ok = l.shared.appendState(buf, &l.m.State, st, c.lang, c.h.clock.MS(), c.h.engine.Terms(l.id).Lease)
	if !ok {
		at := l.m.Revision
		c.h.spawn(func(context.Context) { l.snapshots.drifted(at) })
	}
	return buf, t, ok
}

// writeMessages writes the messages that this socket has not been sent, after its first state.
func (c *conn) writeMessages(w *socket.Writer) {
	if !c.opened || c.session == nil {
		return
	}
	var list []mirror.Message
	c.room.mu.RLock()
	if !c.looking {
		list = c.link.Messages(c.session.Messages(c.messages, c.h.clock.MS()))
	}
	c.room.mu.RUnlock()
	for _, m := range list {
		// a message is secret, so its frame is not made in the buffer that other sockets' frames use
		frame := socket.Text(appendMessage(socket.Blank(512), m))
		if !c.SendFrame(w, frame, dueMessages) {
			return
		}
		c.messages = m.Number
		c.h.metrics.messages.Inc()
	}
}

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
