package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

const (
	frozenHands  = 30 // rooms that hand a lease over while a master or a room is broken
	frozenRooms  = 30 // rooms of the master that hangs in which a lease ends meanwhile
	handedMedian = 500 * time.Millisecond
	handedMost   = 3 * time.Second
)

// hand is a room without sockets in which a second seller waits for the first one's lease to end.
type hand struct {
	room, waiter string
	ends         time.Time
}

// freezeShard stops the process of a master that has no part of the index (SIGSTOP), and continues it. It
// measures how late leases are handed over meanwhile in rooms of the other masters, which only the sweep
// looks at.
func freezeShard(lasts time.Duration) Step {
	return Step{"a shard frozen for " + lasts.String(), func(ctx context.Context, r *Run) error {
		index := r.store.master("waitroom")
		at := slices.IndexFunc(r.rooms, func(room string) bool { return r.store.master(room) != index })
		if at < 0 {
			return fmt.Errorf("%w: every room is on the index's master", errUnmet)
		}
		frozen := r.store.master(r.rooms[at])
		hands, err := r.hands(ctx, frozen, frozenRooms)
		if err != nil {
			return err
		}
		return r.fault("SIGSTOP of a shard", nil, func() (string, error) {
			since := r.history.Len()
			frozen.Pause()
			err := pause(ctx, lasts)
			var late []time.Duration
			if err == nil {
				late, err = r.handed(ctx, hands)
			}
			frozen.Resume()
			if err != nil {
				return "", err
			}
			evidence, err := r.noticed(ctx, since, lasts)
			return r.judgeHands(late) + "; " + evidence, err
		})
	}}
}

// breakRoom makes one room's state unreadable for a while, and puts it back. Meanwhile leases of other rooms
// are handed over, and each replica has metrics of them and counts the broken one.
func breakRoom(lasts time.Duration) Step {
	return Step{"a room unreadable for " + lasts.String(), func(ctx context.Context, r *Run) error {
		broken := prefix + "broken"
		if _, err := r.victim().ask(ctx, join(broken, r.session(r.rng))); err != nil {
			return err
		}
		hands, err := r.hands(ctx, nil, 0)
		if err != nil {
			return err
		}
		return r.fault("a room unreadable", nil, func() (string, error) {
			client, state := r.store.master(broken).Client(), "{"+broken+"}:state"
			err := errors.Join(client.Rename(ctx, state, state+"-kept").Err(), client.Set(ctx, state, "x", 0).Err(),
				pause(ctx, lasts))
			var late []time.Duration
			if err == nil {
				late, err = r.handed(ctx, hands)
			}
			for _, p := range r.replicas {
				err = errors.Join(err, until(patience, func() error { return p.missesARoom(ctx) }))
			}
			err = errors.Join(err, client.Rename(ctx, state+"-kept", state).Err())
			if err != nil {
				return "", err
			}
			return r.judgeHands(late) + "; each replica counts the room", nil
		})
	}}
}

// missesARoom returns an error unless the replica's metrics of lines have all rooms but one.
func (p *replica) missesARoom(ctx context.Context) error {
	text, err := p.metrics(ctx)
	if err != nil {
		return err
	}
	for _, line := range []string{`waitroom_line_unread{rooms="` + prefix + `*"} 1` + "\n",
		`waitroom_line_waiting{rooms="` + prefix + `*"} `} {
		if !strings.Contains(text, line) {
			return fmt.Errorf("%s: no %s", p.name, line)
		}
	}
	return nil
}

func join(room, session string) call {
	return call{op: "join", method: http.MethodPost, path: "/api/" + room + "/lock", room: room,
		session: session, body: `{"seller_id":"` + session + `"}`}
}

// judgeHands holds the delays to the bars, and returns what they were.
func (r *Run) judgeHands(late []time.Duration) string {
	median, most := late[len(late)/2], late[len(late)-1]
	if median >= handedMedian || most >= handedMost {
		r.trouble(Stuck, "leases of other rooms were handed over late: median %s, longest %s of %d", median, most,
			len(late))
	}
	return fmt.Sprintf("%d leases of other rooms handed over: median %s late, p99 %s, longest %s", len(late),
		median, late[len(late)*99/100], most)
}

// hands makes rooms in which a lease is about to end, some of them on a master that is about to hang. It
// returns the others.
func (r *Run) hands(ctx context.Context, frozen *redistest.Server, hanging int) (hands []hand, err error) {
	for i, hangs := 0, 0; len(hands) < frozenHands || hangs < hanging; i++ {
		h := hand{room: fmt.Sprintf("%sshard-%d", prefix, i), waiter: r.session(r.rng)}
		if r.store.master(h.room) == frozen {
			if hangs++; hangs > hanging {
				continue
			}
		} else if len(hands) == frozenHands {
			continue
		}
		for _, session := range []string{r.session(r.rng), h.waiter} {
			got, err := r.victim().ask(ctx, join(h.room, session))
			if err == nil && got.http >= http.StatusBadRequest {
				err = fmt.Errorf("join %s: %s", h.room, got.Code)
			}
			if err != nil {
				return nil, err
			}
			if got.ExpiresAt != nil {
				h.ends = *got.ExpiresAt
			}
		}
		if r.store.master(h.room) != frozen {
			hands = append(hands, h)
		}
	}
	return hands, nil
}

// handed returns how late the waiters were granted, the shortest time first. One that has no grant yet counts
// from now on.
func (r *Run) handed(ctx context.Context, hands []hand) (late []time.Duration, err error) {
	for _, h := range hands {
		got, failed := r.victim().ask(ctx, call{op: "status", method: http.MethodGet,
			path: "/api/" + h.room + "/lock/status", room: h.room, session: h.waiter})
		switch {
		case failed != nil:
			err = errors.Join(err, failed)
		case got.GrantedAt != nil:
			late = append(late, got.GrantedAt.Sub(h.ends))
		default:
			late = append(late, time.UnixMilli(got.Server).Sub(h.ends))
		}
	}
	if len(late) == 0 {
		return nil, errors.Join(errUnmet, err)
	}
	slices.Sort(late)
	return late, nil
}
