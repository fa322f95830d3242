// Package room is the engine: one exclusive lock with a fair line, for each room, on Redis.
//
// Each verb is one call of a Lua script, so that it happens wholly or not at all; Redis's TIME is the only
// clock. A verb first brings the room to now (a lease that is over ends, the next in line has the
// lock), then does what was asked, then tells everybody in one event. docs/redis-keys.md has the
// keys, docs/architecture.md the parts.
package room

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
)

// Config says how rooms behave. Zero fields get the defaults.
type Config struct {
	Lease     time.Duration // how long the lock is held at the most; default 2 minutes
	AwayAfter time.Duration // a waiter gone for longer is passed over; default 15 seconds
	DropAfter time.Duration // and one away for longer than this loses its place; default 5 minutes
	// ClaimWithin is how soon who was waiting with a browser has to claim the lease that it is granted; less than Lease. 0 = nobody has to.
	ClaimWithin time.Duration
	Waiters     int           // how many may wait in a room; 0 = any number
	Journal     int           // how many journal entries a room keeps for the ledger at the most; 0 = no journal
	Retention   time.Duration // how long an idle room's keys are kept; default 26 hours
	LookEvery   time.Duration // how often an active room is looked at when nobody else does, unless there are many (see looksEachSecond); default 1 second
	DrainEvery  time.Duration // how often a room is looked at whose journal waits for the ledger; default 1 second
	IdleEvery   time.Duration // how often an idle one is, until it is taken out of the index after a minute; default 20 seconds
	SweepEvery  time.Duration // how often Sweep asks for due rooms; default 250 ms
	Outcomes    time.Duration // how long an ended place's outcome is told; negative = not at all; default 15 minutes
	Leases      time.Duration // how far back a late message finds its lease; negative = not at all; default 25 hours
	Quarantine  time.Duration // how far apart the asks of two leases are at the least, unless the first ones were answered; negative = not at all; default 30 seconds
	Recovery    time.Duration // how long a room that may have lost data answers nobody, so that every replica can say what it told; negative = not at all; default 1 second
	Required    bool          // every lease is asking: a message that nobody asked for belongs to nobody
	Keys        *Keyring      // seals what scripts are handed of a message; default: a key of this engine's own
	Silent      bool          // nobody mirrors the rooms: no events on their channels
	Ephemeral   bool          // of a room in which nobody holds or waits nothing is kept but the highest fence, for a day; rooms are in no index, nobody need sweep, and sellers have no names
	Index       string        // hash tag of the index keys; default "waitroom"
	Scripts     bool          // call the Lua library by EVALSHA also where Redis has functions
	Prefix      string        // what the ids of its rooms begin with
	KeyPrefix   string        // before every key and channel in Redis: see Names

	// Tracer has a span for each call of a script that is made within a span, with the room and what came of it; the journal's entries name it, so that what follows from
	// them can be told as part of the same trace. nil = there are none.
	Tracer trace.Tracer
	// Address is the store's host:port, for spans; "" = it is not one alone.
	Address string
	// RoomKeys seals the messages of a room in place of Keys, which still opens what it knows; nil, also for a room, where Keys does. It is called as Terms is.
	RoomKeys func(ID) *Keyring
	// Terms are the rules of a room that has rules of its own, by what is configured now; nil where all have those above. It is called for each call of a room's.
	Terms func(ID) Terms
	// Recorded is the durable record's word on a room that Redis lost data of, or knows nothing of; nil where there is no such record.
	Recorded func(context.Context, ID) (Recorded, error)
	// Ended is the durable record's word on how places ended, of those that did, as far as it knows by now; with an error too, what it found before. Who was last told that
	// its place is live, and whose end the store has lost with the place, is told this and not that it is lost. nil where there is no such record.
	Ended func(context.Context, ID, []PlaceID) ([]RecordedEnd, error)
	// Lost is told of a room whose data was lost, right after its new epoch has begun; nil tells nobody.
	Lost func(ID, View)
	// Stepped is told by how much Redis's clock was stepped ahead or (negative) set back, by each process that sweeps; of a cluster for each room. Where it was stepped
	// ahead nobody may ask for a code until the quarantine is over, as after a loss. nil tells nobody.
	ClockJumped func(time.Duration)
}

// Recorded is what the durable record knows of a room.
type Recorded struct {
	Fence, Ticket int64 // the highest
	Open          bool  // a lease without an end
	Ended         int64 // when the latest lease was over, or was granted where it is open (unix ms); 0 = there was none
}

// PlaceID names a place of a room.
type PlaceID struct{ Epoch, Ticket int64 }

// RecordedEnd is how a place ended, as the durable record has it.
type RecordedEnd struct {
	PlaceID
	Seller  string
	Outcome Outcome
	Fence   int64 // of its lease; 0 = it had none
	EndedAt int64 // unix ms
}

func (c Config) withDefaults() Config {
	setDefault(&c.Lease, 2*time.Minute)
	setDefault(&c.AwayAfter, 15*time.Second)
	setDefault(&c.DropAfter, 5*time.Minute)
	setDefault(&c.Retention, 26*time.Hour)
	setDefault(&c.LookEvery, time.Second)
	setDefault(&c.DrainEvery, time.Second)
	setDefault(&c.IdleEvery, 20*time.Second)
	setDefault(&c.SweepEvery, 250*time.Millisecond)
	setDefault(&c.Outcomes, 15*time.Minute)
	setDefault(&c.Leases, 25*time.Hour)
	setDefault(&c.Quarantine, 30*time.Second)
	setDefault(&c.Recovery, time.Second)
	if c.Keys == nil {
		c.Keys = NewKeyring([]byte(rand.Text()))
	}
	if c.Index == "" {
		c.Index = "waitroom"
	}
	return c
}

func setDefault(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// Engine acts on rooms. It holds no state of theirs and may be used by many goroutines.
type Engine struct {
	rdb      redis.UniversalClient
	cfg      Config
	names    Names
	policies sync.Map // Terms → string, the rules as JSON
	index    *index
	library  *library
	thorough bool // no lock takes the short way; see uncontended.lua
	clock    clock
	memory   *memory

	generations     generationFollower
	histories       atomic.Int64
	expiredReplicas map[ReplicaNumber]time.Time // by the sweep, when
	work            sync.WaitGroup              // what goes on beside the sweep
}

// New makes an engine on a client, which stays the caller's to close.
func New(rdb redis.UniversalClient, cfg Config) *Engine {
	cfg = cfg.withDefaults()
	e := &Engine{rdb: rdb, library: newLibrary(rdb, cfg.Scripts), cfg: cfg, names: NamesOf(rdb, cfg.KeyPrefix), expiredReplicas: make(map[ReplicaNumber]time.Time)}
	_, cluster := rdb.(*redis.ClusterClient)
	e.memory = newMemory(cfg.Retention/2, cluster)
	e.index = newIndex(rdb, e.memory, e.names.Key("{"+cfg.Index+"}:"), max(cfg.Recovery, 0))
	e.index.none = cfg.Ephemeral
	if !cfg.Silent {
		e.index.replayRecord = e.replayRecord
	}
	return e
}

// Config returns the configuration with its defaults filled in.
func (e *Engine) Config() Config { return e.cfg }

// Names returns what its keys and channels are called.
func (e *Engine) Names() Names { return e.names }

// Ping asks Redis for a sign of life, and its time.
func (e *Engine) Ping(ctx context.Context) error {
	now, err := e.rdb.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	e.clock.observe(now.UnixMilli())
	return nil
}

// run makes a verb's call. own are the verb's own keys, the first of which remembers the reply. Where the store went back
// behind what this process was told of the room, that is laid before it first; where another history of the server has just begun,
// it waits until the other processes have had the time to do so.
func (e *Engine) run(ctx context.Context, c call, id ID, own []string) (any, error) {
	if e.traces(ctx) {
		return e.runTraced(ctx, c, id, own)
	}
	return e.runUntilAnswered(ctx, c, id, own)
}

func (e *Engine) runUntilAnswered(ctx context.Context, c call, id ID, own []string) (any, error) {
	for {
		res, retryAfter, err := e.attempt(ctx, c, id, own)
		if err != nil || retryAfter == 0 {
			return res, err
		}
		if err := pause(ctx, retryAfter); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrStore, ctx.Err())
	case <-time.After(d):
		return nil
	}
}

// mostReplays bounds how often a room is shown what this process was told: it has all of it after the first time, unless the store went back again.
const mostReplays = 5

// try is run that does not wait: doubt is how long the room answers nobody, then; 0 where it did answer.
func (e *Engine) attempt(ctx context.Context, c call, id ID, own []string) (res any, retryAfter time.Duration, err error) {
	for range mostReplays {
		sent := time.Now()
		if res, err = e.eval(ctx, c, id, own, e.memory.position(id), false); err != nil {
			return nil, 0, err
		}
		text, _ := res.(string)
		if ms, ok := strings.CutPrefix(text, "ahead "); ok {
			now, _ := strconv.ParseInt(ms, 10, 64)
			e.timed(id, sent, now)
			continue
		}
		if ms, ok := strings.CutPrefix(text, "doubt "); ok {
			left, _ := strconv.ParseInt(ms, 10, 64)
			e.askRecord(ctx, id)
			return nil, time.Duration(max(left, 1)) * time.Millisecond, nil
		}
		if text == "newer" {
			return nil, 0, ErrNewer
		}
		if text != "behind" {
			e.journalGrew(id, journalsEvery)
			return res, 0, nil
		}
		if err = e.replay(ctx, id); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, fmt.Errorf("%w: the room goes back in time again and again, or its answers are late again and again", ErrStore)
}

// timed takes in what time (unix ms) the reply to a call named, that was sent then and has just been read.
func (e *Engine) timed(id ID, sent time.Time, now int64) {
	if by := e.memory.observeTime(id, sent, time.Now(), now); by != 0 && e.cfg.ClockJumped != nil {
		e.cfg.ClockJumped(by)
	}
}

// eval runs a script that does nothing where the room does not have in its past what was told of it.
func (e *Engine) eval(ctx context.Context, c call, id ID, own []string, observed position, replays bool) (any, error) {
	latest, now, terms := int64(0), time.Now(), e.Terms(id)
	if !replays {
		latest = e.memory.latestTime(id, now)
	}
	by := callerFields.known(reflect.ValueOf(caller{Epoch: observed.epoch, Version: observed.version, Lineage: observed.lineage, Replays: replays,
		ReadOnly: c.readOnly, Thorough: e.thorough, Outage: e.memory.outageEnd(id), Latest: latest,
		Stepped: e.memory.jumpedAhead(id, max(terms.Quarantine, trustedFor*time.Millisecond), now), Trace: e.traceOf(ctx)}))
	res, err := e.library.call(ctx, c.readOnly, e.names.keys(id, own), c.verb, e.policyOf(terms), by, c.args)
	if err != nil {
		e.memory.failed(id, err)
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return res, nil
}

// standing makes a call whose reply is one line.
func (e *Engine) standing(ctx context.Context, c call, id ID, once string) (Standing, error) {
	a, err := e.answer(ctx, c, id, []string{once})
	return a.standing, err
}

// answer makes a call whose reply is one line, and reads all of it. own are the verb's own keys, as of run.
func (e *Engine) answer(ctx context.Context, c call, id ID, own []string) (answer, error) {
	res, err := e.run(ctx, c, id, own)
	if err != nil {
		return answer{}, err
	}
	return e.read(id, res)
}

// read reads a reply of one line, and takes in what it says of the room.
func (e *Engine) read(id ID, res any) (answer, error) {
	a, err := e.parseAnswer(id, res)
	e.saw(id, a.standing.View)
	return a, err
}

// saw takes in what a reply said of a room: anything earlier would be a store that went back.
func (e *Engine) saw(id ID, v View) {
	if v.Now != 0 {
		e.clock.observe(v.Now)
		e.memory.answered(id, v.Now)
	}
	if !e.cfg.Silent {
		e.memory.observeView(id, v)
	}
}

// stood takes in how a reply said that a session stands.
func (e *Engine) stood(id ID, session string, st Standing) {
	if !e.cfg.Silent {
		e.memory.observePlace(id, session, st.View, st.Place)
	}
}

// Heard takes in an event, before anybody is told of it: a store that does not have it in its past has lost writes.
func (e *Engine) Observe(id ID, event *Event) {
	e.journalGrew(id, journalsLater)
	if !e.cfg.Silent {
		e.memory.observeEvent(id, event)
	}
}

// unremembered is the key of a request whose reply nobody keeps.
const unremembered = "request:"

// requestKey is where the reply to a request is remembered for a minute.
func requestKey(request string) string {
	if request == "" {
		request = uuid.NewString()
	}
	return unremembered + request
}

// Refused tells a rule's refusal from a failure of the store.
func Refused(err error) bool { return err != nil && !errors.Is(err, ErrStore) }
