package hub

import (
	"context"
	"slices"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

// linkLookup is the line of sessions of which it has to be asked for whom their new sockets stand. As with looks, one question is under way at a time for a room, and
// who comes meanwhile goes into the next. No look waits for it: what everybody else is told hangs on those. The room's lock guards it.
type linkLookup struct {
	running bool
	line    []*session
}

// linkQuestion is a session that is asked for, and the sockets that were there by then.
type linkQuestion struct {
	s     *session
	conns []*conn
}

// askLink has it asked for whom the new sockets of a session stand, that was just looked up and has no place of its own.
func (l *localRoom) askLink(s *session) {
	if s.Here.linkAsked || !slices.ContainsFunc(s.Here.conns, (*conn).isUnsure) {
		return
	}
	s.Here.linkAsked = true
	l.links.line = append(l.links.line, s)
	if !l.links.running {
		l.links.running = l.h.Spawn(l.findLinks)
	}
}

func (c *conn) isUnsure() bool { return c.unsure }

func (l *localRoom) findLinks(ctx context.Context) {
	var wait follow.Backoff
	for {
		batch, ids := l.nextLinks()
		if len(batch) == 0 {
			return
		}
		links, err := l.h.cfg.Linked(ctx, l.id, ids)
		if err == nil {
			wait.Reset()
			l.foundLinks(batch, links)
			continue
		}
		l.h.Failed(ctx, "links not found", l.id, err)
		l.askLinksAgain(batch)
		if !wait.Wait(ctx) {
			return
		}
	}
}

// nextLinks takes the next batch; none left ends the run.
func (l *localRoom) nextLinks() (batch []linkQuestion, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, s := range l.links.line {
		if len(ids) == room.LookBatch {
			break
		}
		n++
		s.Here.linkAsked = false
		if conns := s.Here.unsure(); len(conns) > 0 {
			batch, ids = append(batch, linkQuestion{s, conns}), append(ids, s.ID)
		}
	}
	if l.links.line = l.links.line[n:]; len(batch) == 0 {
		l.links = linkLookup{}
	}
	return batch, ids
}

func (v *visitor) unsure() (conns []*conn) {
	for _, c := range v.conns {
		if c.unsure {
			conns = append(conns, c)
		}
	}
	return conns
}

func (l *localRoom) askLinksAgain(batch []linkQuestion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range batch {
		l.askLink(d.s)
	}
}

func (l *localRoom) foundLinks(batch []linkQuestion, links []Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, d := range batch {
		for _, c := range d.conns {
			if c.unsure && l.has(c) {
				l.standFor(c, links[i])
			}
		}
	}
}
