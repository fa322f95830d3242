package lockredis

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
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
	// Registerer counts waits, holds, losses and failures; Lockers that share one count together. Default:
	// none.
	Registerer prometheus.Registerer
	// Tracer has a span for every call that asks Redis, with the key as an attribute. Default: none.
	Tracer trace.Tracer
}

func (c Config) withDefaults() Config {
	if c.Heartbeat <= 0 {
		c.Heartbeat = 3 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
