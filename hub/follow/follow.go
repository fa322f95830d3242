// Package follow listens to Redis, so that mirrors can be kept true: it has the Pub/Sub connection and
// whether that is alive, and notifications about lock keys. It passes all of it on.
package follow

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/storeclock"
)

// Config has what the package needs; there are no defaults.
type Config struct {
	Redis      redis.UniversalClient // stays the caller's to close
	Names      room.Names            // of its keys and channels
	Log        *slog.Logger
	Clock      *storeclock.Clock
	Probe      time.Duration // how often the subscription is tested
	Unnotified bool          // the store has no keyspace notifications: do not ask for them
	Reconnects prometheus.Counter

	Tested func(context.Context) // called after each probe that was published
	// runs a function in the background until the hub ends; false if the hub has ended
	Spawn func(func(context.Context)) bool
}
