package hub

import (
	"context"
	"slices"

	"github.com/waitroom/waitroom/hub/batch"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/room"
)

// linkLookup looks up the links of sessions with new sockets. A room has one lookup in progress at a time,
// and no lookup of a seat waits for it. The room's lock guards it.
type linkLookup struct {
	l       *localRoom
	running bool
	queue   []*session
}

// linkQuestion is a batch of sessions, each with the sockets that it has.
type linkQuestion struct {
	sessions []*session
	conns    [][]*conn
	ids      []string
}

// ask looks up the link of a session's new sockets. The caller has just looked up the session: if that has a
// place of its own, none of its sockets is pending.
func (k *linkLookup) ask(s *session) {
	if s.Here.linkAsked || !slices.ContainsFunc(s.Here.conns, (*conn).isPending) {
		return
	}
	s.Here.linkAsked = true
	k.queue = append(k.queue, s)
	if !k.running {
		k.running = k.l.h.spawn(k.run)
	}
}

func (k *linkLookup) run(ctx context.Context) {
	batch.Worker[linkQuestion]{
		Next: k.next, Return: k.restore,
		Call: func(ctx context.Context, q linkQuestion) error {
			found, err := k.l.h.cfg.Linked(ctx, k.l.id, q.ids)
			if err == nil {
				k.found(q, found)
			}
			return err
		},
		Failed: func(ctx context.Context, err error) { k.l.h.failed(ctx, "links not found", k.l.id, err) },
	}.Run(ctx)
}

// next takes the next sessions off the queue, at most room.LookBatch. ok is false if none of them has a
// socket whose link is to be looked up.
func (k *linkLookup) next() (q linkQuestion, ok bool) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	n := 0
	for _, s := range k.queue {
		if len(q.ids) == room.LookBatch {
			break
		}
		n++
		s.Here.linkAsked = false
		if conns := s.Here.pending(); len(conns) > 0 {
			q.sessions, q.conns, q.ids = append(q.sessions, s), append(q.conns, conns), append(q.ids, s.ID)
		}
	}
	if k.queue = k.queue[n:]; len(q.ids) == 0 {
		k.running, k.queue = false, nil
	}
	return q, len(q.ids) > 0
}

func (k *linkLookup) restore(q linkQuestion) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	for _, s := range q.sessions {
		k.ask(s)
	}
}

func (k *linkLookup) found(q linkQuestion, list []links.Link) {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	for i, conns := range q.conns {
		for _, c := range conns {
			if c.pending && k.l.has(c) {
				k.l.links.standFor(c, list[i])
			}
		}
	}
}

func (c *conn) isPending() bool { return c.pending }

// pending returns the sockets whose link is not known yet.
func (v *visitor) pending() (conns []*conn) {
	for _, c := range v.conns {
		if c.pending {
			conns = append(conns, c)
		}
	}
	return conns
}
