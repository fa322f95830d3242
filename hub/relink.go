package hub

import (
	"context"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/room"
)

// relink has it asked for all linked sockets whether their browsers have come to a place of their own: a snapshot stands for events that may have been missed, and
// that of such a join is the only one that says so. Those who have come back as what they are, and nobody else: a failover does not move a socket that shows what is
// so. How the place of the other session stands does not answer it. While that is live the web has its linked browsers join no other; but the store may have lost
// the link and kept the place. Where it has ended, most have no place since.
func (l *localRoom) relink() {
	for _, c := range l.linked {
		c.link.missed = true
	}
	if len(l.linked) > 0 && !l.relinking {
		l.relinking = l.h.Spawn(l.relinks)
	}
}

func (l *localRoom) relinks(ctx context.Context) {
	var wait follow.Backoff
	for {
		batch, ids := l.nextRelinks()
		if len(batch) == 0 {
			return
		}
		_, seats, err := l.h.engine.Look(ctx, l.id, ids...)
		if err == nil {
			wait.Reset()
			l.relinked(batch, seats)
			continue
		}
		l.h.Failed(ctx, "browsers of linked sockets not looked up", l.id, err)
		l.relinkAgain(batch)
		if !wait.Wait(ctx) {
			return
		}
	}
}

// nextRelinks takes the next batch, and of each socket its browser's own session and the one that it stands for; none left ends the run.
func (l *localRoom) nextRelinks() (batch []*conn, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.linked {
		if c.link.missed && len(ids)+2 <= room.LookBatch {
			c.link.missed = false
			batch, ids = append(batch, c), append(ids, c.link.own, c.session.ID)
		}
	}
	l.relinking = len(batch) > 0
	return batch, ids
}

func (l *localRoom) relinkAgain(batch []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range batch {
		c.link.missed = true
	}
}

func (l *localRoom) relinked(batch []*conn, seats []room.Seat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*conn
	for i, c := range batch {
		if c.link.left(&seats[2*i], &seats[2*i+1]) {
			out = append(out, c)
		}
	}
	l.comeBack(out)
}

// left reports whether the browser has a place of its own, or had one since it stood for the other one.
func (k *linked) left(own, place *room.Seat) bool {
	return own.Live() || own.Ticket > max(k.ticket, k.had) && !place.Live()
}
