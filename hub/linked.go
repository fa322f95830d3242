package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/hub/batch"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
)

// linkedSockets are the sockets of a room that stand for another session's place. The room's lock guards
// them.
type linkedSockets struct {
	links.Room[*conn]
	l *localRoom
}

// Stand is how the socket stands for another session's place; nil where it stands for its own.
func (c *conn) Stand() *links.Stand { return c.link }

// Place is the session that the socket stands for, and its seat.
func (c *conn) Place() (session string, seat *mirror.Seat) { return c.session.ID, &c.session.Seat }

// standFor has a socket sent how its session stands or, where that has no place and was let into another
// one's, how that one does.
func (k *linkedSockets) standFor(c *conn, link links.Link) {
	c.pending = false
	if link.Session != "" && !c.session.Seat.Live() {
		k.stand(c, c.session, link)
	}
	c.Mark(dueState|dueMessages, true)
}

// standForItself is standFor for the sockets of a session with a place of its own, whatever else they could
// stand for.
func (k *linkedSockets) standForItself(s *session) {
	for _, c := range s.Here.conns {
		if c.pending {
			k.standFor(c, links.Link{})
		}
	}
}

// stand has a socket of a session stand for another one's place. Once that one has another place, or the
// session one of its own, the socket is closed with 4003 and comes back for what its browser has by then.
func (k *linkedSockets) stand(c *conn, own *session, as links.Link) {
	k.l.unseatConn(c, own)
	c.link = links.NewStand(as, own.ID, own.Seat.Ticket)
	k.l.seatConn(c, as.Session)
	k.Add(c)
	k.comeBack(k.Replaced()) // no event will close them
}

// letIn has the sockets of a browser that was let into a place come back for it: its own, and those of a
// place that it stood for before and that is over.
func (k *linkedSockets) letIn(own string) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	var out []*conn
	if s := k.l.m.Session(own); s != nil && !s.Seat.Live() {
		for _, c := range s.Here.conns {
			// else it is another browser's, which was let into an earlier place of this session
			if c.link == nil {
				out = append(out, c)
			}
		}
	}
	k.comeBack(append(out, k.LetIn(own)...))
}

// comeBack closes sockets so that they come back for what their browsers have by then.
func (k *linkedSockets) comeBack(out []*conn) {
	if len(out) == 0 {
		return
	}
	k.l.h.spawn(func(context.Context) {
		for _, c := range out {
			if !c.Closed() {
				c.Shut(codeUnlinked, "unlinked")
			}
		}
	})
}

// missed checks all sockets after a snapshot, which stands for events that may have been missed. It closes
// those whose browsers have had a place of their own since; a failover moves no other socket.
func (k *linkedSockets) missed() {
	if k.Missed() {
		k.Checking(k.l.h.spawn(k.check))
	}
}

func (k *linkedSockets) check(ctx context.Context) {
	batch.Worker[links.Check[*conn]]{
		Next: func() (links.Check[*conn], bool) {
			k.l.mu.Lock()
			defer k.l.mu.Unlock()
			return k.Next()
		},
		Call: func(ctx context.Context, c links.Check[*conn]) error {
			_, seats, err := k.l.h.engine.Look(ctx, k.l.id, c.Sessions...)
			if err != nil {
				return err
			}
			k.l.mu.Lock()
			defer k.l.mu.Unlock()
			k.comeBack(c.Over(seats))
			return nil
		},
		Return: func(c links.Check[*conn]) {
			k.l.mu.Lock()
			defer k.l.mu.Unlock()
			c.Return()
		},
		Failed: func(ctx context.Context, err error) {
			k.l.h.failed(ctx, "browsers of linked sockets not looked up", k.l.id, err)
		},
	}.Run(ctx)
}

// wasLetIn is the third word of a message that a session was let into a place. Replicas of earlier versions
// take it, with the session, for an owner that they know nothing of.
const wasLetIn = "let-in"

// JoinedDevice has the sockets of a session sent that another browser was let into its place, and those of
// that browser's own session, "" for none, come back for that place; on every replica. The error wraps
// room.ErrStore.
func (h *Hub) JoinedDevice(ctx context.Context, id room.ID, session, own string) error {
	payloads := []string{string(id) + " " + session}
	if own != "" {
		payloads = append(payloads, string(id)+" "+own+" "+wasLetIn)
	}
	var failed error
	for _, payload := range payloads {
		if err := h.cfg.Redis.Publish(ctx, h.joinedDevice, payload).Err(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%w: publish a joined device: %w", room.ErrStore, err))
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
		l.links.letIn(session)
	}
}

func (l *localRoom) notify(session string, what room.Helping) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.m.Session(session); s != nil {
		l.m.Notify(s, what)
		s.Here.mark(dueState | dueNotices)
	}
}
