// Package room is the engine: one exclusive lock with a fair line, for each room, on Redis.
//
// Each verb is one Lua script, so that it happens wholly or not at all; Redis's TIME is the only
// clock. A verb first brings the room to now (a lease that is over ends, the next in line has the
// lock), then does what was asked, then tells everybody in one event. docs/architecture.md has the
// keys and the invariants.
package room

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Config says how rooms behave. Zero fields get the defaults.
type Config struct {
	Lease      time.Duration // how long the lock is held at the most; default 2 minutes
	AwayAfter  time.Duration // a waiter gone for longer is passed over; default 15 seconds
	DropAfter  time.Duration // and one away for longer than this loses its place; default 5 minutes
	Journal    int           // how many journal entries a room keeps for the ledger at the most; 0 = no journal
	Retention  time.Duration // how long an idle room's keys are kept; default 26 hours
	LookEvery  time.Duration // how often an active room is looked at when nobody else does; default 1 second
	IdleEvery  time.Duration // how often an idle one is, until it is taken out of the index after a minute; default 20 seconds
	SweepEvery time.Duration // how often Sweep asks for due rooms; default 250 ms
	Outcomes   time.Duration // how long an ended place's outcome is told; negative = not at all; default 15 minutes
	Leases     time.Duration // how far back a late message finds its lease; negative = not at all; default 25 hours
	Silent     bool          // nobody mirrors the rooms: no events on their channels
	Index      string        // hash tag of the index keys; default "waitroom"
}

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
	rdb    redis.UniversalClient
	cfg    Config
	policy string // what every script is told of cfg beside the times of presence
	index  *index
}

// New makes an engine on a client, which stays the caller's to close.
func New(rdb redis.UniversalClient, cfg Config) *Engine {
	cfg = cfg.withDefaults()
	policy := fmt.Sprintf("%d|%d|%d|%s", cfg.Journal, max(cfg.Outcomes.Milliseconds(), 0), max(cfg.Leases.Milliseconds(), 0), flag(!cfg.Silent))
	return &Engine{rdb: rdb, cfg: cfg, policy: policy, index: newIndex(rdb, cfg.Index)}
}

// Config returns the configuration with its defaults filled in.
func (e *Engine) Config() Config { return e.cfg }

// Ping asks Redis for a sign of life.
func (e *Engine) Ping(ctx context.Context) error {
	if err := e.rdb.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return nil
}

// run runs a verb's script. once names the key that remembers the reply.
func (e *Engine) run(ctx context.Context, s *redis.Script, id ID, once string, args ...any) (any, error) {
	argv := make([]any, 0, 5+len(args))
	argv = append(argv, string(id), e.cfg.Lease.Milliseconds(), e.cfg.AwayAfter.Milliseconds(),
		e.cfg.DropAfter.Milliseconds(), e.policy)
	res, err := s.Run(ctx, e.rdb, keys(id, once), append(argv, args...)...).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return res, nil
}

// standing runs a script whose reply is one line.
func (e *Engine) standing(ctx context.Context, s *redis.Script, id ID, once string, args ...any) (Standing, error) {
	res, err := e.run(ctx, s, id, once, args...)
	if err != nil {
		return Standing{}, err
	}
	a, err := e.parseAnswer(res)
	return a.standing, err
}

// unremembered is the key of a request whose reply nobody keeps.
const unremembered = "request:"

// requestKey is where the reply to a request is remembered for a minute.
func requestKey(request string) string {
	if request == "" {
		request = uuid.NewString()
	}
	return "request:" + request
}

// Refused tells a rule's refusal from a failure of the store.
func Refused(err error) bool { return err != nil && !errors.Is(err, ErrStore) }
