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

// linkedSockets are the sockets of a room that act for another session's place. The room's lock guards them.
type linkedSockets struct {
	links.Room[*conn]
	l *localRoom
}

// Stand returns how the socket acts for another session's place; nil if it acts for its own.
func (c *conn) Stand() *links.Stand { return c.link }

// Place returns the session that the socket acts for, and its seat.
func (c *conn) Place() (session string, seat *mirror.Seat) { return c.session.ID, &c.session.Seat }

// standFor sends a socket the state of its session's place. If the session has none and joined another one's
// place by a link, it sends that place's state.
func (k *linkedSockets) standFor(c *conn, link links.Link) {
	c.pending = false
	if link.Session != "" && !c.session.Seat.Live() {
		k.stand(c, c.session, link)
	}
	c.Mark(dueState|dueMessages, true)
}

// standForItself is standFor for the sockets of a session that has a place of its own.
func (k *linkedSockets) standForItself(s *session) {
	for _, c := range s.Here.conns {
		if c.pending {
			k.standFor(c, links.Link{})
		}
	}
}

// stand makes a socket act for another session's place. Once that session has another place, or the socket's
// own session has one, the socket is closed with 4003, and reconnects for its browser's current place.
func (k *linkedSockets) stand(c *conn, own *session, as links.Link) {
	k.l.unseatConn(c, own)
	c.link = links.NewStand(as, own.ID, own.Seat.Ticket)
	k.l.seatConn(c, as.Session)
	k.Add(c)
	k.comeBack(k.Replaced()) // no event will close them
}

// letIn makes the sockets of a browser that joined a place by a link reconnect for that place: its own
// sockets, and those of a linked place that has ended.
func (k *linkedSockets) letIn(own string) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	var out []*conn
	if s := k.l.m.Session(own); s != nil && !s.Seat.Live() {
		for _, c := range s.Here.conns {
			// other sockets belong to browsers that joined an earlier place of this session
			if c.link == nil {
				out = append(out, c)
			}
		}
	}
	k.comeBack(append(out, k.LetIn(own)...))
}

// comeBack closes sockets so that they reconnect for their browsers' current places.
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

// missed checks all linked sockets after a snapshot, since events may have been missed. It closes those whose
// browsers have had a place of their own since; a failover affects no other socket.
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

// wasLetIn is the third word of the message that a session has joined a place by a link. Replicas of earlier
// versions read both words as one session, which they do not know, and do nothing.
const wasLetIn = "let-in"

// JoinedDevice notifies the sockets of a session that another browser has joined its place, on every replica.
// The sockets of that browser's own session, "" for none, reconnect for that place. The error wraps
// room.ErrStore.
func (h *Hub) JoinedDevice(ctx context.Context, id room.ID, session, own string) error {
	payloads := []string{string(id) + " " + session}
	if own != "" {
		payloads = append(payloads, string(id)+" "+own+" "+wasLetIn)
	}
	var failed error
	for _, payload := range payloads {
		redis := room.MasterOf(ctx, h.cfg.Redis, h.joinedDevice)
		if err := redis.Publish(ctx, h.joinedDevice, payload).Err(); err != nil {
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
