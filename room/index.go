package room

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	indexRegisterScript = indexScript("index_register")
	indexClaimScript    = indexScript("index_claim")
	indexSettleScript   = indexScript("index_settle")
)

// registeredFor is how long a process trusts its own registration of a room. Shorter than what
// join.lua accepts (45 s), which is shorter than what index_settle.lua keeps (60 s).
const registeredFor = 20 * time.Second

// claimFor is how long a claimed room waits before another replica may take it: the claimer died.
const claimFor = 500 * time.Millisecond

// index is the list of rooms that somebody has to look at, for when no replica has a timer on them.
// A room is put in before it is used and taken out when it sleeps; so none with a live place is missing.
type index struct {
	rdb  redis.UniversalClient
	keys []string

	mu         sync.Mutex
	registered map[ID]registration
	swept      time.Time
}

type registration struct {
	at    int64 // Redis's clock, ms
	local time.Time
}

func newIndex(rdb redis.UniversalClient, name string) *index {
	return &index{rdb: rdb, keys: []string{"{" + name + "}:due", "{" + name + "}:registered"},
		registered: make(map[ID]registration)}
}

// listed runs a script that is about to use the room, with the time of this process's registration (ms)
// and whether it was made for this call. Where the script finds that not good enough, it is made anew.
func (x *index) listed(ctx context.Context, id ID, script func(registered int64, fresh string) error) error {
	for {
		at, known := x.recent(id)
		if !known {
			var err error
			if at, err = x.register(ctx, id); err != nil {
				return err
			}
		}
		if err := script(at, flag(!known)); !errors.Is(err, errRegister) {
			return err
		}
		x.forget(id)
		if known {
			continue
		}
		select { // the clocks of two masters differ: wait that long
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrStore, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// register writes the room into the index, due at once, and returns Redis's time of that.
func (x *index) register(ctx context.Context, id ID) (int64, error) {
	asked := time.Now()
	at, err := indexRegisterScript.Run(ctx, x.rdb, x.keys, string(id)).Int64()
	if err != nil {
		return 0, fmt.Errorf("%w: register room: %w", ErrStore, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.prune(asked)
	x.registered[id] = registration{at: at, local: asked}
	return at, nil
}

func (x *index) recent(id ID) (int64, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r, ok := x.registered[id]
	return r.at, ok && time.Since(r.local) < registeredFor
}

func (x *index) forget(id ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.registered, id)
}

// prune forgets old registrations, once per registeredFor.
func (x *index) prune(now time.Time) {
	if now.Sub(x.swept) < registeredFor {
		return
	}
	x.swept = now
	for id, r := range x.registered {
		if now.Sub(r.local) >= registeredFor {
			delete(x.registered, id)
		}
	}
}

// claim is a room to look at and what to hand back.
type claim struct {
	room ID
	mark string
}

// claim takes due rooms, at most so many, and says in how long the next is due; negative when none is listed.
func (x *index) claim(ctx context.Context, most int) ([]claim, time.Duration, error) {
	list, err := indexClaimScript.Run(ctx, x.rdb, x.keys[:1], most, claimFor.Milliseconds()).StringSlice()
	if err != nil || len(list) == 0 {
		return nil, 0, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	next, err := strconv.ParseInt(list[0], 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	claims := make([]claim, 0, len(list)/2)
	for i := 1; i+1 < len(list); i += 2 {
		claims = append(claims, claim{room: ID(list[i]), mark: list[i+1]})
	}
	return claims, time.Duration(next) * time.Millisecond, nil
}

// settle says when to look at a claimed room again.
func (x *index) settle(ctx context.Context, c claim, in time.Duration, asleep bool) error {
	err := indexSettleScript.Run(ctx, x.rdb, x.keys, string(c.room), c.mark,
		strconv.FormatInt(max(in.Milliseconds(), 0), 10), flag(asleep)).Err()
	if err != nil {
		return fmt.Errorf("%w: settle due room: %w", ErrStore, err)
	}
	return nil
}

// scanPiece is about how many rooms Redis names at once.
const scanPiece = 1000

// rooms lists all rooms in order. Each that is there all the time is named, whatever changes meanwhile.
func (x *index) rooms(ctx context.Context) ([]ID, error) {
	found := make(map[ID]struct{})
	for cursor := uint64(0); ; {
		list, next, err := x.rdb.ZScan(ctx, x.keys[0], cursor, "", scanPiece).Result()
		if err != nil {
			return nil, fmt.Errorf("%w: list rooms: %w", ErrStore, err)
		}
		for i := 0; i+1 < len(list); i += 2 { // a room and when it is due
			found[ID(list[i])] = struct{}{}
		}
		if cursor = next; cursor == 0 {
			return slices.Sorted(maps.Keys(found)), nil
		}
	}
}
