package lockredis

import (
	"context"
	"log/slog"
	"time"

	"github.com/waitroom/waitroom/lock"
)

const (
	awayAfter    = time.Millisecond // a waiter is passed over when its process's last heartbeat ran out
	dropAfter    = 5 * time.Second  // and loses its place this much later
	storeWithin  = 10 * time.Second // bounds background work
	leaveAgain   = 5 * time.Second  // an interrupted join gets to Redis within this, or not at all
	beatsPerWord = 3                // how many heartbeats in a row have to be lost until a waiter is passed over
)

// Config configures a Locker. Zero fields get the defaults.
type Config struct {
	// Heartbeat is how long a waiter keeps its turn while its process is silent: dead, frozen or cut off.
	// Each third of it, a process sends one command for each key that it waits for. Default 3 seconds.
	Heartbeat time.Duration
	// Prefix begins every key and channel: lockers with another one share the Redis and no lock. It may
	// be what room.ValidPrefix allows, up to 64 letters, digits and - _ . : / of ASCII; New panics on
	// another one. Default: none.
	Prefix string
	// Logger records failures of background work. Default: none.
	Logger *slog.Logger
	// Metrics receives waits, holds, losses and failures. Default: none.
	Metrics Metrics
	// Tracer has a span for every call that asks Redis. Default: none.
	Tracer Tracer
}

// Metrics counts for Lockers, any number of goroutines at a time. Package lockprom has Prometheus's. No value
// names a key, since there is no end of keys.
type Metrics interface {
	// Took is called at the end of each TryLock and Lock with how long the call took and its result: acquired,
	// not_acquired, cancelled, refused or failed. At the end of a hold that was unlocked in time, it is called
	// with the result held and how long the hold was, by Redis's clock.
	Took(result string, d time.Duration)
	// Lost is called for a lease that was over before its holder was done with it (lease) and for a place in
	// line that Redis does not have any more (place).
	Lost(what string)
	// Failed is called for a call that Redis did not answer, or not intelligibly, with the method's name; with
	// background for work that no caller waits for.
	Failed(call string)
}

// Tracer makes spans of Lockers' calls. Package lockotel has OpenTelemetry's.
type Tracer interface {
	// Start begins the span of a call by the method's name. The returned context has the span, and the function
	// ends it with the call's error. The key is the zero Key if the caller passed no valid one.
	Start(ctx context.Context, call string, key lock.Key) (context.Context, func(error))
}

// unwatched is the Metrics and the Tracer of a Locker without.
type unwatched struct{}

func (unwatched) Took(string, time.Duration) {}
func (unwatched) Lost(string)                {}
func (unwatched) Failed(string)              {}

func (unwatched) Start(ctx context.Context, _ string, _ lock.Key) (context.Context, func(error)) {
	return ctx, func(error) {}
}

func (c Config) withDefaults() Config {
	if c.Heartbeat <= 0 {
		c.Heartbeat = 3 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = unwatched{}
	}
	if c.Tracer == nil {
		c.Tracer = unwatched{}
	}
	return c
}
