// Package room is the engine: one exclusive lock with a fair line, for each room, on Redis.
//
// Each verb is one call of the Lua library, so it is atomic. Redis's TIME is the only clock. A verb first
// brings the room up to date (an expired lease ends, the next waiter is granted), then runs, then publishes
// all changes in one event. docs/redis-keys.md lists the keys, docs/architecture.md the parts, and
// docs/contract.md the rules.
package room

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/room/storeclock"
	"github.com/waitroom/waitroom/room/wire"
)

// Config has the settings of an engine's rooms. Zero fields get the defaults. The rules are those of
// docs/contract.md.
type Config struct {
	Lease     time.Duration // longest time that the lock is held; default 2 minutes
	AwayAfter time.Duration // a waiter gone for longer is passed over (rule 2); default 15 seconds
	DropAfter time.Duration // a waiter gone for longer loses its place (rule 2); default 5 minutes
	// ClaimWithin is the time in which a waiter with a browser has to claim its lease (rule 11). It is less
	// than Lease; 0 = leases need no claim.
	ClaimWithin time.Duration
	Waiters     int           // most waiters of a room; 0 = any number
	Journal     int           // most journal entries that a room keeps for the ledger; 0 = no journal
	Retention   time.Duration // how long an idle room's keys are kept; default 26 hours

	// LookEvery is how often Sweep looks at an active room in which nothing is due; default 1 second. With
	// many rooms it is longer: see looksEachSecond.
	LookEvery time.Duration
	// IdleEvery is how often Sweep looks at an idle room; default 20 seconds. After a minute the room leaves
	// the index, the list of rooms that Sweep looks at.
	IdleEvery  time.Duration
	SweepEvery time.Duration // how often Sweep claims due rooms; default 250 ms

	// Outcomes is how long a session can read how its place ended; negative = not at all; default 15 minutes.
	Outcomes time.Duration
	// Leases is how long ended leases are kept for late messages; negative = not at all; default 25 hours.
	Leases time.Duration
	// Quarantine is the least time between the asks of two leases, unless those of the first lease were
	// answered. Negative = none; default 30 seconds.
	Quarantine time.Duration
	// Recovery is the recovery window: how long a room that may have lost data answers no call. Meanwhile
	// every replica can replay what it observed. Negative = none; default 1 second.
	Recovery time.Duration

	Required bool          // every lease asks: a message that none asked for is unmatched
	Keys     *seal.Keyring // seals messages before scripts get them; default: a random key of this engine
	Silent   bool          // the engine publishes no events, since no process mirrors its rooms

	// Ephemeral deletes a room without sessions, except its highest fence, which is kept for a day. Such
	// rooms are in no index, need no sweep, and their sellers have no names.
	Ephemeral bool

	Scripts   bool   // call the Lua library by EVALSHA even if Redis has functions
	KeyPrefix string // of every key and channel in Redis: see Names

	// Tracer makes a span for each call that is made within a span, with the room and the result. The
	// journal's entries name the span, so that later work joins the same trace. nil = no spans.
	Tracer Tracer
	// Address is Redis's host:port, for spans; "" = there is no single address.
	Address string
	// RoomKeys returns the keyring that seals a room's messages in place of Keys, or nil for Keys. Keys still
	// opens the messages that it sealed. The engine calls it for each call of a room, as it calls Terms.
	RoomKeys func(ID) *seal.Keyring
	// Unreadable is called for each text of a room that no secret of this process opens, since another secret
	// has sealed it; it may be nil.
	Unreadable func(ID)
	// Terms returns the rules of a room, as they are configured now. nil = all rooms have the settings above.
	// The engine calls it for each call of a room.
	Terms func(ID) Terms
	// OpensAt returns when the hours of a room begin next, as seen at a time; the zero time if that is within
	// them. nil = every room is always open. The engine calls it for each join.
	OpensAt func(ID, time.Time) time.Time
	// Recorded returns what the ledger has of a room that Redis lost or never had; nil = no ledger.
	Recorded func(context.Context, ID) (Recorded, error)
	// Ended returns how places ended, for those whose end the ledger has; nil = no ledger. If it returns an
	// error, it also returns the ends that it found. If Redis lost a place that this process last observed
	// live, its session gets this end instead of lost (rule 10).
	Ended func(context.Context, ID, []PlaceID) ([]RecordedEnd, error)
	// Lost is called for a room that lost data, right after its new epoch began; it may be nil.
	Lost func(ID, View)
	// ClockJumped is called with how far Redis's clock jumped ahead, or back if negative; it may be nil.
	// Each engine that notices the jump calls it, with Redis Cluster for each room. After a jump ahead no
	// lease may ask for a code until the quarantine is over, as after a loss.
	ClockJumped func(time.Duration)
}

// What the engine asks of the ledger; see room/wire.
type (
	Recorded    = wire.Recorded
	PlaceID     = wire.PlaceID
	RecordedEnd = wire.RecordedEnd
)

func (c Config) withDefaults() Config {
	setDefault(&c.Lease, 2*time.Minute)
	setDefault(&c.AwayAfter, 15*time.Second)
	setDefault(&c.DropAfter, 5*time.Minute)
	setDefault(&c.Retention, 26*time.Hour)
	setDefault(&c.LookEvery, time.Second)
	setDefault(&c.IdleEvery, 20*time.Second)
	setDefault(&c.SweepEvery, 250*time.Millisecond)
	setDefault(&c.Outcomes, 15*time.Minute)
	setDefault(&c.Leases, 25*time.Hour)
	setDefault(&c.Quarantine, 30*time.Second)
	setDefault(&c.Recovery, time.Second)
	if c.Keys == nil {
		c.Keys = seal.NewKeyring([]byte(rand.Text()))
	}
	return c
}

func setDefault(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// Engine runs verbs on rooms. All state of rooms is in Redis. It is safe for concurrent use.
type Engine struct {
	rdb      redis.UniversalClient
	cfg      Config
	names    Names
	policies sync.Map // Terms → string, the policy as JSON
	index    *index
	library  *library
	thin     bool // the rooms are locks that may be thin: see thin.go
	clock    *storeclock.Clock
	memory   *memory

	generations     generationFollower
	histories       atomic.Int64
	evicts          atomic.Bool                 // a master has evicted keys, as far as watch has seen
	expiredReplicas map[ReplicaNumber]time.Time // dead replicas: when the sweep last made their rooms due
	sweeping        map[string]<-chan struct{}  // by master: closed when the sweep's work there has ended
	silent          silentMasters
	work            sync.WaitGroup // goroutines that Sweep waits for before it returns
}

// New returns an engine on a client. The caller closes the client.
func New(rdb redis.UniversalClient, cfg Config) *Engine {
	cfg = cfg.withDefaults()
	e := &Engine{rdb: rdb, cfg: cfg, library: newLibrary(rdb, cfg.Scripts),
		clock:           storeclock.New(),
		names:           NamesOf(rdb, cfg.KeyPrefix),
		expiredReplicas: make(map[ReplicaNumber]time.Time),
		sweeping:        make(map[string]<-chan struct{})}
	_, cluster := rdb.(*redis.ClusterClient)
	e.memory = newMemory(cfg.Retention/2, cluster)
	e.index = newIndex(rdb, e.memory, e.names.Key("{waitroom}:"), max(cfg.Recovery, 0))
	e.index.none = cfg.Ephemeral
	e.thin = mayBeThin(cfg)
	if !cfg.Silent {
		e.index.replayRecord = e.replayRecord
	}
	return e
}

// Config returns the configuration with its defaults filled in.
func (e *Engine) Config() Config { return e.cfg }

// Names returns the names of the engine's keys and channels.
func (e *Engine) Names() Names { return e.names }

// Clock returns the estimate of Redis's time, by the replies and events that this process has read.
func (e *Engine) Clock() *storeclock.Clock { return e.clock }

// Ping reports whether Redis answers, and records its time. Error: ErrStore.
func (e *Engine) Ping(ctx context.Context) error {
	now, err := e.rdb.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	e.clock.Sample(now.UnixMilli())
	return nil
}

// run runs a verb once and returns its reply.
//
// If Redis lost writes that this process has observed, run replays them first. While the room is recovering,
// run waits until the other replicas have had the time to replay.
func (e *Engine) run(ctx context.Context, c call, id ID) (any, error) {
	if e.cfg.Tracer == nil {
		return e.runUntilAnswered(ctx, c, id)
	}
	ctx, end := e.cfg.Tracer.Start(ctx, c.verb)
	res, err := e.runUntilAnswered(ctx, c, id)
	if end != nil {
		end(e.called(id, res, err))
	}
	return res, err
}

func (e *Engine) runUntilAnswered(ctx context.Context, c call, id ID) (any, error) {
	for {
		res, retryAfter, err := e.attempt(ctx, c, id)
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

// mostReplays bounds the attempts of one call: there is another one after each replay or answer "ahead". Two
// are enough unless Redis loses writes again meanwhile.
const mostReplays = 5

// attempt runs the verb once. If retryAfter > 0 the room is recovering and the verb was not executed.
func (e *Engine) attempt(ctx context.Context, c call, id ID) (res any, retryAfter time.Duration, err error) {
	for range mostReplays {
		sent := time.Now()
		if res, err = e.eval(ctx, c, id, e.memory.position(id), false); err != nil {
			return nil, 0, err
		}
		text, _ := res.(string)
		if ms, ok := strings.CutPrefix(text, "ahead "); ok { // not executed: a slow call or a clock jump
			now, _ := strconv.ParseInt(ms, 10, 64)
			e.timed(id, sent, now)
			continue
		}
		if ms, ok := strings.CutPrefix(text, "recovering "); ok {
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
	return nil, 0, fmt.Errorf("%w: the room goes back in time again and again, "+
		"or its answers are late again and again", ErrStore)
}

// timed records the time (unix ms) in a reply that was just read, and reports a clock jump.
func (e *Engine) timed(id ID, sent time.Time, now int64) {
	e.clock.Sample(now)
	if by := e.memory.observeTime(id, sent, time.Now(), now); by != 0 && e.cfg.ClockJumped != nil {
		e.cfg.ClockJumped(by)
	}
}

// eval calls the library once. The verb is not executed if the observed position is not in the room's past.
func (e *Engine) eval(ctx context.Context, c call, id ID, observed position, replays bool) (any, error) {
	latest, now, terms := int64(0), time.Now(), e.Terms(id)
	if !replays {
		latest = e.memory.latestTime(id, now)
	}
	jumps := max(terms.Quarantine, settling)
	by := caller{observed.epoch, observed.version, observed.lineage, latest, c.listing.at, c.listing.absence}
	seldom := rare{Replays: replays, ReadOnly: c.readOnly, Outage: e.memory.outageEnd(id),
		ClockJump: e.memory.jumpedAhead(id, jumps, now), Trace: e.traceOf(ctx), Evicts: e.evicts.Load()}
	res, err := e.library.call(ctx, c.readOnly, e.names.keys(id, e.memory.cluster),
		c.argv(e.policyOf(terms), by, seldom)...)
	if err != nil {
		e.memory.failed(id, err)
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return res, nil
}

// standing runs a verb, and returns the standing in its reply.
func (e *Engine) standing(ctx context.Context, c call, id ID) (Standing, error) {
	a, err := e.answer(ctx, c, id)
	return e.standingOf(id, &a), err
}

// answer runs a verb and returns its reply.
func (e *Engine) answer(ctx context.Context, c call, id ID) (answer, error) {
	res, err := e.run(ctx, c, id)
	if err != nil {
		return answer{}, err
	}
	return e.read(id, res)
}

// read decodes a reply, and records the view in it.
func (e *Engine) read(id ID, res any) (answer, error) {
	if a, ok := parseThin(res); ok {
		e.saw(id, a.View)
		return a, nil
	}
	a, err := e.parseAnswer(res)
	e.saw(id, a.View)
	return a, err
}

// saw records the view in a reply. If Redis later has an older version than that view's, Redis has lost
// writes.
func (e *Engine) saw(id ID, v View) {
	if v.Now != 0 {
		e.clock.Sample(v.Now)
		e.memory.answered(id, v.Now)
	}
	if !e.cfg.Silent {
		e.memory.observeView(id, v)
	}
}

// stood records a session's place in a reply.
func (e *Engine) stood(id ID, session string, st Standing) {
	if !e.cfg.Silent {
		e.memory.observePlace(id, session, st.View, st.Place)
	}
}

// Observe remembers an event's version and places in this process. The caller calls it before it sends any
// part of the event to clients, right after reading it. If Redis later has an older version than this
// one, Redis has lost writes (rule 10 of docs/contract.md).
//
// It also makes the process measure the length of the room's journal soon, since the change in the event may
// have added entries.
func (e *Engine) Observe(id ID, event *Event) {
	e.clock.Sample(event.Now)
	e.journalGrew(id, journalsLater)
	if !e.cfg.Silent {
		e.memory.observeEvent(id, event)
	}
}

// requests is the prefix of the keys that keep the replies to requests.
const requests = "request:"

// requestKey returns the key that keeps the reply to a request. A request without an id gets a new one.
func requestKey(request string) string {
	if request == "" {
		request = uuid.NewString()
	}
	return requests + request
}

// Refused reports whether an error is a rule's refusal and not a failure of Redis.
func Refused(err error) bool { return err != nil && !errors.Is(err, ErrStore) }
