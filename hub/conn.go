package hub

import (
	"context"
	"fmt"
	"net/http"

	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
)

// Close codes of the contract, beside those of package socket. 4000–4499 say: come back; 4500 and up: do not.
const (
	codeDraining  = 4001
	codeUnlinked  = 4003
	codeForbidden = 4502
)

// The kinds of frames that a socket may be due, as bits of its mark.
const (
	dueState = socket.Own << iota
	dueMessages
	dueNotices
)

// conn is one socket.
type conn struct {
	socket.Conn
	h *Hub

	room    *localRoom
	session *session     // nil for a spectator, and for support
	link    *links.Stand // nil where the session is the browser's own
	pending bool         // its link is not known yet: it is sent nothing. The room's lock guards it
	// the known messages of its session may be rejected ones: a lookup comes first. The room's lock guards it
	looking bool
	at      int32  // index in room.conns, by the room's lock
	lang    string // the reader's language

	// Only the writer uses these; seatConn sets noticed, too.
	opened   bool   // the first state was sent
	messages uint32 // number of the last message sent
	noticed  uint32 // and of the last notice
	sent     mirror.Sent
	fence    int64 // of the lease that the last state had
}

// ServeSocket turns a request into a socket of a room and returns; session "" is a spectator. lang is the
// reader's language, a BCP 47 tag: announcements are in it where support wrote them in it. The session comes
// from room.ParseSession and the room from room.ParseID. An error means that nothing was written: ErrOrigin,
// ErrNotUpgrade, ErrDraining or room.ErrStore. After a nil error the response is not to be touched.
func (h *Hub) ServeSocket(w http.ResponseWriter, r *http.Request, id room.ID, session, lang string) error {
	c := &conn{h: h, lang: lang}
	if ok, err := h.accept(w, r, h.cfg.Origins.Allowed, &c.Conn, c); !ok {
		return err
	}
	h.sockets.Add(1)
	h.metrics.sockets.Inc()
	for !h.open(id).enter(c, session) {
	}
	h.run(c)
	return nil
}

// ForbidSocket turns a request into a socket that is closed at once with 4502 (the client must not
// reconnect). Its errors are ServeSocket's.
func (h *Hub) ForbidSocket(w http.ResponseWriter, r *http.Request) error {
	c := &conn{h: h}
	if ok, err := h.accept(w, r, h.cfg.Origins.Allowed, &c.Conn, c); !ok {
		return err
	}
	c.Open()
	c.Shut(codeForbidden, "forbidden")
	if !h.spawn(func(context.Context) { c.Run(); c.Leave() }) {
		c.Leave()
	}
	return nil
}

// accept takes over a request as a socket. It returns false without an error if the connection broke
// meanwhile.
func (h *Hub) accept(w http.ResponseWriter, r *http.Request, allowed func(*http.Request) bool, c *socket.Conn,
	owner socket.Owner) (bool, error) {
	if err := socket.Check(w, r, allowed); err != nil {
		return false, err
	}
	if h.draining.Load() {
		return false, ErrDraining
	}
	if h.sub.Lost() {
		return false, fmt.Errorf("%w: %w", room.ErrStore, errStale)
	}
	return h.pool.Accept(w, r, c, owner), nil
}

// run starts the socket's goroutine.
func (h *Hub) run(c *conn) {
	c.Open()
	if !h.spawn(c.read) {
		c.left()
	}
}

// read is the socket's goroutine.
func (c *conn) read(context.Context) {
	defer c.left()
	if c.h.draining.Load() {
		c.Shut(codeDraining, "draining")
	}
	c.Run()
}

// left removes the socket from its room and from the pool.
func (c *conn) left() {
	c.Leave()
	c.room.leave(c)
	c.h.sockets.Add(-1)
	c.h.metrics.sockets.Dec()
}
