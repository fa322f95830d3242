package quota

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waitroom/waitroom/room"
)

const (
	namedAtMost = room.LookBatch  // places looked up at once
	roomsAtMost = 32              // and rooms; the next check may meet others
	lookWithin  = time.Second     // each of these
	share       = 10              // at most a tenth of the time is spent on one address
	pending     = 5 * time.Second // how long a join may be in flight: longer than any call waits for the store
)

// full lists the places of an address at its limit, with their marks.
type full []string

func (full) Error() string { return "address has all the places that it may have" }

// check records the last lookup of an address.
type check struct {
	mu    sync.Mutex // held during a lookup
	at    time.Time  // the end of the last one
	took  time.Duration
	found bool
}

// Left records that a place of an address has just ended: the address's next refusal is checked first.
func (q *Quota) Left(from netip.Addr) {
	if q == nil || q.cfg.Places == 0 {
		return
	}
	if c, ok := q.checks.Peek(q.digest(from)); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.took = 0
	}
}

// check drops the ended places of an address from its count. It reports whether there were any.
func (q *Quota) check(ctx context.Context, address string, counted full) bool {
	c := &check{}
	if known, ok, _ := q.checks.PeekOrAdd(address, c); ok {
		c = known
	}
	asked := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.After(asked) {
		return c.found // a concurrent check has just finished
	}
	begun := time.Now()
	if begun.Sub(c.at) < share*c.took {
		return false
	}
	over := q.over(ctx, address, counted)
	c.found = len(over) > 0 && undoScript.Run(ctx, q.cfg.Redis, []string{q.key(address, "places")},
		append([]any{0}, over...)...).Err() == nil
	c.at, c.took = time.Now(), time.Since(begun)
	return c.found
}

// counted is a place and its mark.
type counted struct{ place, mark string }

// over returns the ended places, each with its mark.
func (q *Quota) over(ctx context.Context, address string, list full) []any {
	rooms, order := map[room.ID][]counted{}, []room.ID{}
	for pair := range slices.Chunk(list, 2) {
		id, _, _ := strings.Cut(pair[0], " ")
		if _, ok := rooms[room.ID(id)]; !ok {
			order = append(order, room.ID(id))
		}
		rooms[room.ID(id)] = append(rooms[room.ID(id)], counted{pair[0], pair[1]})
	}
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var mu sync.Mutex
	var over []any
	some := order[:min(len(order), roomsAtMost)]
	q.cfg.Rooms.EachRoom(ctx, some, lookWithin, func(ctx context.Context, id room.ID) error {
		found, err := q.overIn(ctx, address, id, rooms[id])
		mu.Lock()
		defer mu.Unlock()
		over = append(over, found...)
		return err // such a room keeps its places counted
	})
	return over
}

// overIn returns the ended places of one room.
func (q *Quota) overIn(ctx context.Context, address string, id room.ID, list []counted) (over []any,
	err error) {
	sessions := make([]string, len(list))
	for i, c := range list {
		_, sessions[i], _ = strings.Cut(c.place, " ")
	}
	view, seats, err := q.cfg.Rooms.Look(ctx, id, sessions...)
	if err != nil {
		return nil, err
	}
	for i, c := range list {
		if !seats[i].Live() && q.done(address, c, view.Now) {
			over = append(over, c.place, c.mark)
		}
	}
	return over, nil
}

// done reports whether no join of that place can be in flight. Either it finished here, or it is too old by
// Redis's clock (unix ms).
func (q *Quota) done(address string, c counted, now int64) bool {
	us, err := strconv.ParseFloat(c.mark, 64)
	if err != nil {
		return false
	}
	if joined, ok := q.settled.Peek(q.key(address, "places") + " " + c.place); ok && joined.mark == us {
		return true
	}
	ms := int64(us / 1000)
	return now-ms > q.pending.Milliseconds() || now < ms // the clock went back
}
