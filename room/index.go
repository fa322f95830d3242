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
	indexExpireReplicaScript = indexScript("bury")
	indexDueScript           = indexScript("due")
)

// registeredFor is how long a process trusts its own registration of a room. Shorter than what
// existence.unlisted accepts (45 s), which is shorter than what index/reschedule.lua keeps (60 s).
const registeredFor = 20 * time.Second

// claimFor is how long a claimed room waits before another replica may take it: the claimer died.
const claimFor = 500 * time.Millisecond

// index is the list of rooms that somebody has to look at, for when no replica has a timer on them.
// A room is put in before it is used and taken out when it sleeps; so none with a live place is missing.
type index struct {
	none         bool // no room is in it
	rdb          redis.UniversalClient
	begin        string                                  // how the names of its keys begin
	keys         []string                                // due, registered, life, clock, whole, alive, dead, outage, history
	recovery     time.Duration                           // how long a room that may have been lost is not begun: who knows it says so meanwhile
	name         string                                  // of this process, which the lives that it begins are called by
	replayRecord func(context.Context, ID, string) error // is asked before a room begins that the store has that blank of; nil = nobody is

	memory *memory // has which rooms this process has registered lately

	mu         sync.Mutex
	generation string // the index's, as this process saw it last
	followed   string // the generation that followed another one which this process knew
}

type registration struct {
	at       int64 // Redis's clock, ms
	local    time.Time
	recovery time.Duration // where the store knows nothing of the room, it may have lost it so short a time ago that this is to be waited
	used     time.Duration // or that, since the room was used before, or is about to be begun by somebody else
}

func newIndex(rdb redis.UniversalClient, m *memory, begin string, recovery time.Duration) *index {
	x := &index{rdb: rdb, memory: m, begin: begin, recovery: recovery, name: rand.Text()}
	for _, key := range []string{"due", "registered", "life", "clock", "whole", "alive", "dead", "outage", "history"} {
		x.keys = append(x.keys, begin+key)
	}
	return x
}

// noToken is none that a store has: a room that is there is not begun.
const noToken = "-"

// listing is a room's entry in the index.
type listing struct {
	at      int64  // when this process put it there (unix ms)
	absence string // the blank in whose place a script may begin a room that the store knows nothing of; "" = none
}

// listed runs a script that is about to use the room. Where the script finds the entry not good enough, it is made anew.
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
		default: // who knows the room is about to say so; or it has just fallen asleep; or the clocks of two masters differ
			err = pause(ctx, wait)
		}
		if err != nil {
			return err
		}
	}
}

// How long a call waits until it asks again for a room that is not there yet: twice as long each time, up to the last.
const (
	indexAskAgain = 5 * time.Millisecond
	indexAskLast  = 160 * time.Millisecond
)

// beginning is what stands between a call and the first epoch of a room that the store knows nothing of: where it may have lost the room, the living
// processes say first what they know, and then the durable record does.
type beginning struct {
	waits bool   // those who know the room may say so first
	asks  bool   // the record is to be asked yet
	again bool   // the call's own registration is no sign that the room was used before
	token string // that the store has in the room's place, as this call saw it last; "" = it did not
	until time.Time
}

// found takes in which blank a script found, if it did. Another one than before: the room may have been begun meanwhile by somebody, and lost.
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

// doubted is true while those who know the room may still say so.
func (b *beginning) recovering() bool { return time.Now().Before(b.until) }

func (b *beginning) may() bool { return !b.asks && !b.recovering() }

// begins is the blank that a script may begin the room in place of; known is where the room was registered for another call.
func (b *beginning) absence(known bool) string {
	if known || !b.may() {
		return ""
	}
	return b.token
}

// registeredNow runs a script on a room whatever the store knows of it; with a blank (noToken: never in place of one), only while the store has that one in the room's place: else the error is an
// errRegister. The script may leave the room asleep, so the registration is good for nothing else.
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

// generationName is what a life is called, should the call that asks begin one.
func (x *index) generationName() string { return x.name + "." + rand.Text() }

// saw takes in which life the index has.
func (x *index) saw(generation string) {
	if x.generation != "" && x.generation != generation {
		x.followed = generation
	}
	x.generation = generation
}

// doubtful says whether another life may have been there right before this one, with rooms that somebody knows.
func (x *index) mayFollowLoss(generation string) bool {
	return x.followed == generation || !strings.HasPrefix(generation, x.name+".")
}

// register writes a room that is about to be used into the index, and remembers that.
func (x *index) register(ctx context.Context, id ID) (registration, error) {
	r, err := x.list(ctx, id)
	if err == nil {
		x.memory.register(id, r)
	}
	return r, err
}

// list writes a room into the index, due at once.
func (x *index) list(ctx context.Context, id ID) (registration, error) {
	r := registration{local: time.Now()}
	found, err := indexRegisterScript.Run(ctx, x.rdb, []string{x.keys[0], x.keys[1], x.keys[2], x.keys[8]}, string(id), x.generationName()).StringSlice()
	if err != nil || len(found) != 5 {
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
	if since >= 0 { // a room that was begun right before may be lost
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

// claim is a room to look at and what to hand back.
type claim struct {
	room  ID
	score string
}

// claims is what one replica is to look at.
type claims struct {
	rooms      []claim
	next       time.Duration // in how long the next room is due; negative when none is listed
	generation string        // of the index: another one where Redis lost it
	whole      bool          // every room in use is listed
	listed     int           // how many rooms are
	replicas   string        // which are alive, for the room's script
	now        int64         // by Redis's clock (unix ms)
}

// claim takes due rooms, at most so many. A replica without a heartbeat for that long has died.
func (x *index) claim(ctx context.Context, most int, dead time.Duration) (claims, error) {
	list, err := indexClaimScript.Run(ctx, x.rdb, []string{x.keys[0], x.keys[2], x.keys[3], x.keys[4], x.keys[5], x.keys[6], x.keys[7]},
		most, claimFor.Milliseconds(), x.generationName(), dead.Milliseconds()).StringSlice()
	if err != nil || len(list) < 5 {
		return claims{}, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	next, err := strconv.ParseInt(list[0], 10, 64)
	if err != nil {
		return claims{}, fmt.Errorf("%w: claim due rooms: %w", ErrStore, err)
	}
	x.mu.Lock()
	x.saw(list[1])
	x.mu.Unlock()
	c := claims{next: time.Duration(next) * time.Millisecond, generation: list[1], whole: list[2] == "1", replicas: list[4]}
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

// reschedule says when to look at a claimed room again.
func (x *index) reschedule(ctx context.Context, c claim, in time.Duration, asleep bool) error {
	err := indexRescheduleScript.Run(ctx, x.rdb, x.keys[:2], string(c.room), c.score,
		strconv.FormatInt(max(in.Milliseconds(), 0), 10), asleep).Err()
	if err != nil {
		return fmt.Errorf("%w: reschedule room: %w", ErrStore, err)
	}
	return nil
}

// dueIn has a listed room looked at by then. alone is false where somebody looks at it before, perhaps just now.
func (x *index) dueIn(ctx context.Context, id ID, in time.Duration) (earliest bool, err error) {
	earliest, err = indexDueScript.Run(ctx, x.rdb, x.keys[:1], string(id), max(in.Milliseconds(), 0)).Bool()
	return earliest, storeError("make room due", err)
}

// sentinel is in the index beside the rooms: see index/register.lua.
const sentinel = "!"

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
			if list[i] != sentinel {
				found[ID(list[i])] = struct{}{}
			}
		}
		if cursor = next; cursor == 0 {
			return slices.Sorted(maps.Keys(found)), nil
		}
	}
}
