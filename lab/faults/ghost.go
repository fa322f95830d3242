package faults

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// KindGhost is the kind of a record of a seller whose connection hangs for good.
const KindGhost = "ghost"

// ghosts join a line in which all have sockets, and then their network silently loses everything. None of
// them may be granted the lock after AWAY_AFTER.
func ghosts(n int) Step {
	return Step{fmt.Sprintf("%d half-open sockets", n), func(ctx context.Context, r *Run) error {
		p := r.victim()
		room := r.rooms[1]
		way := r.network.to("ghosts", p.addr)
		var list []*seller
		return r.fault("half-open sockets", nil, func() (string, error) {
			defer func() {
				for _, s := range list { // no other can give back their places
					_, _ = p.do(context.WithoutCancel(ctx), s.leaving())
				}
			}()
			for i := range n {
				s := &seller{run: r, room: room, name: fmt.Sprint("ghost-", i), session: r.session(r.rng)}
				conn, _, err := websocket.Dial(ctx, "ws://"+way.addr+"/api/"+room+"/ws",
					&websocket.DialOptions{HTTPHeader: http.Header{"X-Session-Id": {s.session}}})
				if err != nil {
					return "", err
				}
				defer func() { _ = conn.CloseNow() }()
				got, err := p.do(ctx, s.join())
				if err != nil || got.Status != "waiting" {
					return "", fmt.Errorf("%w: a ghost is %s: %w", errUnmet, got.Status, err)
				}
				list = append(list, s)
			}
			if err := pause(ctx, time.Second); err != nil { // for the replica to vouch for them
				return "", err
			}
			if err := way.Hang("upstream", "downstream"); err != nil {
				return "", err
			}
			for _, s := range list {
				r.history.Add(Record{Kind: KindGhost, Room: room, Session: s.session, Detail: s.name})
			}
			if err := pause(ctx, awayAfter+noticed); err != nil {
				return "", err
			}
			return r.reachGhosts(ctx, p, list)
		})
	}}
}

// reachGhosts waits until the line has passed every ghost: it was granted, or a seller behind it was.
func (r *Run) reachGhosts(ctx context.Context, p *replica, list []*seller) (string, error) {
	passed, granted, since, latest := 0, 0, r.history.Len(), int64(0)
	for began := time.Now(); passed+granted < len(list); {
		if time.Since(began) > patience {
			return "", fmt.Errorf("%w: the line has not come to them", errUnmet)
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return "", err
		}
		news := r.history.Since(since)
		since += len(news)
		for _, rec := range news {
			if rec.Room == list[0].room && rec.Status == "locked" {
				latest = max(latest, rec.Ticket)
			}
		}
		passed, granted = 0, 0
		for _, s := range list {
			got, err := p.do(ctx, s.status())
			switch now := got.mine("status"); {
			case err != nil:
				return "", err
			case now.Status != "waiting":
				granted++
			case now.Ticket < latest:
				passed++
			}
		}
	}
	return fmt.Sprintf("of %d whose connection hangs %d were passed over, %d granted", len(list), passed,
		granted), nil
}

// ghostsGranted finds leases of ghosts whose connection had hung for longer than a session may count as
// present.
func (b *book) ghostsGranted(l Ledger) (found []Violation) {
	hung := map[string]int64{}
	for _, r := range b.records {
		if r.Kind == KindGhost {
			hung[r.Room+" "+r.Detail] = r.Ended.Wall
		}
	}
	for _, row := range l.Leases {
		at, ok := hung[row.Room+" "+row.Seller]
		if ok && row.Granted > at+(b.rules.AwayAfter+noticed+backWithin).Milliseconds() {
			found = append(found, Violation{GhostGranted, row.Room, 0, fmt.Sprintf(
				"%s was granted the lock %d ms after its connection had hung", row.Seller, row.Granted-at)})
		}
	}
	return found
}
