package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// Link is whom a browser stands for that was let into another session's place.
type Link struct {
	Session string // whose place it is
	Ticket  int64  // of the place
	Fence   int64  // of the place's lease; 0 = it has had none yet
}

// linked is a Link as its socket knows it.
type linked struct {
	ticket int64
	own    string // the browser's own session
	had    int64  // the ticket of the place that it had of its own before
	missed bool   // what became of the browser may have been, see relink
	fence  int64  // the writer's own
}

// standFor has a socket told how its session stands or, where that has no place and was let into another one's, how that one does.
func (l *localRoom) standFor(c *conn, link Link) {
	c.unsure = false
	if link.Session != "" && !c.session.Seat.Live() {
		l.stand(c, c.session, link)
	}
	c.Mark(dueState|dueMessages, true)
}

// standForItself is standFor for the sockets of a session with a place of its own: it need not be known what else it could stand for.
func (l *localRoom) standForItself(s *session) {
	for _, c := range s.Here.conns {
		if c.unsure {
			l.standFor(c, Link{})
		}
	}
}

// stand has a socket of a session stand for another one's place. Once that one has another place, or the session one of its own, it is closed with
// 4003: it comes back as what it is by then.
func (l *localRoom) stand(c *conn, own *session, as Link) {
	l.unseatConn(c, own)
	c.link = &linked{ticket: as.Ticket, own: own.ID, had: own.Seat.Ticket, fence: as.Fence}
	l.seatConn(c, as.Session)
	l.linked = append(l.linked, c)
	l.unlink((*conn).replaced) // no event will say so
}

// wasLetIn is the third word of what says that a session was let into a place. Replicas of before take it, with the session, for an owner of whom they know nothing.
const wasLetIn = "let-in"

// JoinedDevice has the sockets of a session told that another browser was let into its place, and those of that browser's own session, "" for none, come back for that
// place; on every replica. The error wraps room.ErrStore.
func (h *Hub) JoinedDevice(ctx context.Context, id room.ID, session, own string) error {
	told := []string{string(id) + " " + session}
	if own != "" {
		told = append(told, string(id)+" "+own+" "+wasLetIn)
	}
	var failed error
	for _, payload := range told {
		if err := h.cfg.Redis.Publish(ctx, h.joinedDevice, payload).Err(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%w: tell of a joined device: %w", room.ErrStore, err))
		}
	}
	return failed
}

func (h *Hub) deviceJoined(payload string) {
	id, who, _ := strings.Cut(payload, " ")
	l := h.room(room.ID(id))
	if l == nil {
		return
	}
	switch session, what, _ := strings.Cut(who, " "); what {
	case "":
		l.notify(session, room.JoinedDevice)
	case wasLetIn:
		l.letIn(session)
	}
}

// letIn has the sockets of a browser that was let into a place come back for it: those that are its own, and those of a place that it stood for before and that is over.
func (l *localRoom) letIn(own string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*conn
	if s := l.m.Session(own); s != nil && !s.Seat.Live() {
		for _, c := range s.Here.conns {
			if c.link == nil { // else it is somebody's who was let into an earlier place of this session
				out = append(out, c)
			}
		}
	}
	for _, c := range l.linked {
		if c.link.own == own && !c.session.Seat.Live() {
			out = append(out, c)
		}
	}
	l.comeBack(out)
}

func (l *localRoom) notify(session string, what room.Helping) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.m.Session(session); s != nil {
		l.m.Notify(s, what)
		s.Here.mark(dueState | dueNotices)
	}
}

// unlink closes the sockets that stand for a place and may not any more.
func (l *localRoom) unlink(over func(*conn) bool) {
	if len(l.linked) == 0 {
		return
	}
	var out []*conn
	for _, c := range l.linked {
		if over(c) {
			out = append(out, c)
		}
	}
	l.comeBack(out)
}

// comeBack closes sockets so that they come back as what they are.
func (l *localRoom) comeBack(out []*conn) {
	if len(out) == 0 {
		return
	}
	l.h.Spawn(func(context.Context) {
		for _, c := range out {
			if !c.Closed() {
				c.Shut(codeUnlinked, "unlinked")
			}
		}
	})
}

// replaced reports whether the place that the socket is of is known to be another one by now. The room's lock is held.
func (c *conn) replaced() bool {
	seat := &c.session.Seat
	return seat.Status != "" && seat.Ticket != c.link.ticket
}

// joined reports whether the browser has a place of its own by this event.
func (k *linked) joined(e *room.Event) bool {
	return slices.ContainsFunc(e.Joined, func(j room.Joined) bool { return j.Session == k.own })
}

// held remembers the lease of the place.
func (k *linked) held(fence int64) {
	if k != nil && fence != 0 {
		k.fence = fence
	}
}

// messages are those that the socket may show: of this place, not of an earlier one of the same session.
func (k *linked) messages(list []mirror.Message) []mirror.Message {
	if k == nil {
		return list
	}
	return slices.DeleteFunc(list, func(m mirror.Message) bool { return !m.Offered && m.Fence != k.fence })
}
