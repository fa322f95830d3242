package room

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	indexRegisterScript      = indexScript("register")
	indexClaimScript         = indexScript("claim")
	indexRescheduleScript    = indexScript("reschedule")
	indexHeartbeatScript     = indexScript("heartbeat")
	indexExpireReplicaScript = indexScript("expire_replica")
	indexDueScript           = indexScript("due")
)

// registeredFor is how long a process relies on its own registration of a room in the index. It is shorter
// than what existence.unlisted accepts (45 s), which is shorter than what index/reschedule.lua keeps (60 s).
const registeredFor = 20 * time.Second

// claimFor is how long a claimed room is one replica's. After that another may claim it, since the first one
// may have died.
const claimFor = 500 * time.Millisecond

// index is the list of rooms that some replica's sweep has to look at. A call puts a room into it before
// using the room, and the sweep takes out sleeping ones. So no room with a live place is missing, even if no
// replica has a timer on it.
type index struct {
	none     bool // there is no index
	rdb      redis.UniversalClient
	begin    string        // prefix of the index keys
	keys     []string      // due, registered, life, clock, whole, alive, dead, outage, history
	recovery time.Duration // recovery window: how long a room that may have been lost is not begun
	name     string        // of this process: prefix of the generations that it begins
	// replayRecord replays the ledger to a room that is absent under a token, before the room begins. It may
	// be nil.
	replayRecord func(ctx context.Context, id ID, token string) error

	memory *memory // has the rooms that this process registered lately

	mu         sync.Mutex
	generation string // of the index, as this process saw it last
	followed   string // the generation that replaced another one which this process had seen
}

type registration struct {
	at       int64 // when the room was registered: unix ms of Redis's clock
	local    time.Time
	recovery time.Duration // time to wait before the room begins, since Redis may have lost it
	used     time.Duration // the same, if the room was used before or another call is about to begin it
}

func newIndex(rdb redis.UniversalClient, m *memory, begin string, recovery time.Duration) *index {
	x := &index{rdb: rdb, memory: m, begin: begin, recovery: recovery, name: rand.Text()}
	for _, key := range []string{"due", "registered", "life", "clock", "whole", "alive", "dead", "outage",
		"history"} {
		x.keys = append(x.keys, begin+key)
	}
	return x
}

// noToken is no room's absence token: with it a script never begins a room.
const noToken = "-"

// listing is a room's entry in the index.
type listing struct {
	at      int64  // when this process wrote the entry (unix ms)
	absence string // absence token under which the script may begin the room; "" = it may not
}

// listed runs a script that is about to use the room. If the script finds the entry too old, listed registers
// the room and runs the script again.
func (x *index) listed(ctx context.Context, id ID, script func(listing) error) error {
	if x.none {
		return script(listing{})
	}
	b := beginning{waits: x.replayRecord != nil, asks: x.replayRecord != nil}
	for wait := indexAskAgain; ; wait = min(2*wait, indexAskLast) {
		r, known := x.memory.registration(id)
		if !known {
			var err error
			if r, err = x.register(ctx, id); err != nil {
				return err
			}
			b.registered(r)
		}
		first := b.token == ""
		err := script(listing{r.at, b.absence(known)})
		if !errors.Is(err, errRegister) {
			return err
		}
		x.memory.forgetRegistration(id)
		unknown := b.found(err, x.recovery)
		switch {
		case known && !b.again, unknown && first && b.may():
			continue
		case unknown && b.asks && !b.recovering():
			b.asks = false
			if err = x.replayRecord(ctx, id, b.token); errors.Is(err, errRegister) {
				b.found(err, x.recovery)
				err = nil
			}
		default: // the room recovers, or has just fallen asleep, or the clocks of two masters differ
			err = pause(ctx, wait)
		}
		if err != nil {
			return err
		}
	}
}

// How long a call waits before it retries on an absent room: first indexAskAgain, then twice as long each
// time, at most indexAskLast.
const (
	indexAskAgain = 5 * time.Millisecond
	indexAskLast  = 160 * time.Millisecond
)

// beginning decides when a call may begin a room that Redis does not have. If Redis may have lost the room,
// the other processes replay what they observed first, and then the ledger is replayed.
type beginning struct {
	waits bool   // the call waits for replays of other processes
	asks  bool   // the ledger has not been replayed yet
	again bool   // the call registered the room before, so a registration is no sign of earlier use
	token string // absence token that this call saw last; "" = none
	until time.Time
}

// found records the absence token in an error and reports whether the error has one. If the token has
// changed, another call may have begun the room, and Redis may have lost it.
func (b *beginning) found(err error, recovery time.Duration) bool {
	unknown, ok := errors.AsType[*unknownRoom](err)
	if !ok {
		return false
	}
	if b.token != "" && b.token != unknown.token && b.waits {
		b.asks, b.until = true, time.Now().Add(recovery)
	}
	b.token = unknown.token
	return true
}

func (b *beginning) registered(r registration) {
	if b.waits {
		recovery := r.recovery
		if !b.again {
			recovery = max(recovery, r.used)
		}
		if until := r.local.Add(recovery); until.After(b.until) {
			b.until = until
		}
	}
	b.again = true
}

// recovering reports whether other processes may still replay the room.
func (b *beginning) recovering() bool { return time.Now().Before(b.until) }

func (b *beginning) may() bool { return !b.asks && !b.recovering() }

// absence returns the absence token under which a script may begin the room; "" = it may not. known is
// whether another call registered the room.
func (b *beginning) absence(known bool) string {
	if known || !b.may() {
		return ""
	}
	return b.token
}

// registeredNow registers the room and runs the verb. With a token, the verb runs only while the room is
// still absent under that token (noToken: only while it exists); otherwise it returns errRegister. The
// registration is not remembered, since the verb may leave the room asleep.
func (x *index) registeredNow(ctx context.Context, id ID, token string, script func(listing) error) error {
	for absence := token; ; {
		r, err := x.list(ctx, id)
		if err != nil {
			return err
		}
		if err = script(listing{r.at, absence}); !errors.Is(err, errRegister) {
			return err
		}
		if unknown, ok := errors.AsType[*unknownRoom](err); ok {
			if token != "" && unknown.token != token {
				return err
			}
			absence = unknown.token
		}
		if err := pause(ctx, indexAskAgain); err != nil {
			return err
		}
	}
}

// generationName returns a new name for a generation of the index, in case the script begins one.
func (x *index) generationName() string { return x.name + "." + rand.Text() }

// saw records the index's generation that a script returned.
func (x *index) saw(generation string) {
	if x.generation != "" && x.generation != generation {
		x.followed = generation
	}
	x.generation = generation
}

// mayFollowLoss reports whether Redis may have lost another generation right before this one, and rooms with
// it.
func (x *index) mayFollowLoss(generation string) bool {
	return x.followed == generation || !strings.HasPrefix(generation, x.name+".")
}

// register writes a room into the index, due at once, and remembers the registration.
func (x *index) register(ctx context.Context, id ID) (registration, error) {
	r, err := x.list(ctx, id)
	if err == nil {
		x.memory.register(id, r)
	}
	return r, err
}

// list writes a room into the index, due at once. The room waits before it begins while the index's
// generation or the server's history is younger than the recovery window, if a loss may be right before it.
func (x *index) list(ctx context.Context, id ID) (registration, error) {
	r := registration{local: time.Now()}
	keys := []string{x.keys[0], x.keys[1], x.keys[2], x.keys[8]}
	found, err := indexRegisterScript.Run(ctx, x.rdb, keys, string(id), x.generationName()).StringSlice()
	if err == nil && len(found) != 5 {
		err = fmt.Errorf("an answer of %d values", len(found))
	}
	if err != nil {
		return r, fmt.Errorf("%w: register room: %w", ErrStore, err)
	}
	var at [3]int64
	for i := range at {
		at[i], _ = strconv.ParseInt(found[i], 10, 64)
	}
	r.at = at[0]
	since, _ := strconv.ParseInt(found[4], 10, 64)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.saw(found[3])
	began := time.Duration(at[0]-at[1]) * time.Millisecond
	if at[2] >= 0 {
		r.used = x.recovery
	}
	if began < x.recovery && x.mayFollowLoss(found[3]) {
		r.recovery = x.recovery - max(began, 0)
	}
	if since >= 0 { // a room that began right before the server's new history may be lost
		r.recovery = max(r.recovery, x.recovery-max(time.Duration(at[0]-since)*time.Millisecond, 0))
	}
	return r, nil
}

func (m *memory) register(id ID, r registration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(id, r.local).registered = r
}

func (m *memory) registration(id ID) (registration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.known(id).registered
	return r, time.Since(r.local) < registeredFor
}

func (m *memory) forgetRegistration(id ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.rooms[id]; r != nil {
		r.registered = registration{}
	}
}

// claim is a room that this replica is to look at, with the score in the index that proves the claim.
type claim struct {
	room  ID
	score string
}

// claims has the rooms that one replica is to look at, and the state of the index.
type claims struct {
	rooms      []claim
	next       time.Duration // until the next room is due; negative if no room is listed
	generation string        // of the index: it changes if Redis lost the index
	whole      bool          // every room in use is listed
	listed     int           // number of listed rooms, and one more: see index/claim.lua
	replicas   string        // the live replicas, for the room's script
	now        int64         // unix ms of Redis's clock
}

// claim claims due rooms, at most `most`. A replica without a heartbeat for `dead` counts as dead.
func (x *index) claim(ctx context.Context, most int, dead time.Duration) (claims, error) {
	keys := []string{x.keys[0], x.keys[2], x.keys[3], x.keys[4], x.keys[5], x.keys[6], x.keys[7]}
	list, err := indexClaimScript.Run(ctx, x.rdb, keys,
		most, claimFor.Milliseconds(), x.generationName(), dead.Milliseconds()).StringSlice()
	if err == nil && len(list) < 5 {
		err = fmt.Errorf("an answer of %d values", len(list))
	}
	if err != nil {
		return claims{}, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	next, err := strconv.ParseInt(list[0], 10, 64)
	if err != nil {
		return claims{}, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	x.mu.Lock()
	x.saw(list[1])
	x.mu.Unlock()
	c := claims{next: time.Duration(next) * time.Millisecond, generation: list[1], whole: list[2] == "1",
		replicas: list[4]}
	c.listed, _ = strconv.Atoi(list[3])
	now, _, _ := strings.Cut(c.replicas, " ")
	us, err := strconv.ParseInt(now, 10, 64)
	if err != nil {
		return claims{}, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	c.now = us / 1000
	for i := 5; i+1 < len(list); i += 2 {
		c.rooms = append(c.rooms, claim{room: ID(list[i]), score: list[i+1]})
	}
	return c, nil
}

// reschedule sets when a claimed room is due again, and releases the claim.
func (x *index) reschedule(ctx context.Context, c claim, in time.Duration, asleep bool) error {
	err := indexRescheduleScript.Run(ctx, x.rdb, x.keys[:2], string(c.room), c.score,
		strconv.FormatInt(max(in.Milliseconds(), 0), 10), asleep).Err()
	if err != nil {
		return fmt.Errorf("%w: reschedule room: %w", ErrStore, err)
	}
	return nil
}

// dueIn makes a listed room due when `in` has passed. earliest is false if the room was due sooner, or a
// replica may be looking at it now.
func (x *index) dueIn(ctx context.Context, id ID, in time.Duration) (earliest bool, err error) {
	earliest, err = indexDueScript.Run(ctx, x.rdb, x.keys[:1], string(id), max(in.Milliseconds(), 0)).Bool()
	return earliest, storeError("make room due", err)
}

// sentinel is a member of the index beside the rooms: see index/register.lua.
const sentinel = "!"

// scanPiece is about how many keys or rooms Redis returns at once.
const scanPiece = 1000

// rooms returns all rooms, sorted. A room that is listed throughout the call is never missing.
func (x *index) rooms(ctx context.Context) ([]ID, error) {
	found := make(map[ID]struct{})
	for cursor := uint64(0); ; {
		list, next, err := x.rdb.ZScan(ctx, x.keys[0], cursor, "", scanPiece).Result()
		if err != nil {
			return nil, fmt.Errorf("%w: list rooms: %w", ErrStore, err)
		}
		for i := 0; i+1 < len(list); i += 2 { // a room and when it is due
			if list[i] != sentinel {
				found[ID(list[i])] = struct{}{}
			}
		}
		if cursor = next; cursor == 0 {
			return slices.Sorted(maps.Keys(found)), nil
		}
	}
}
