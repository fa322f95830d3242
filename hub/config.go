package hub

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/hub/links"
	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/room"
)

// Config configures a Hub. Zero durations and sizes get the defaults.
type Config struct {
	Engine *room.Engine
	Redis  redis.UniversalClient // for the subscription; stays the caller's to close
	Log    *slog.Logger
	// sites whose pages may open a seller's socket; the zero value = the server's own
	Origins    origin.Sites
	Registerer prometheus.Registerer // nil = metrics are kept for this hub alone
	Unnotified bool                  // the store has no keyspace notifications: do not ask for them

	// Linked returns for each of the sessions, which have no place of their own, the place that its browser
	// joined by a link; the zero Link if it joined none. nil = none did. A call has each session once, at
	// most room.LookBatch of them. A later socket of a session makes the hub ask about it again.
	Linked func(ctx context.Context, id room.ID, sessions []string) ([]links.Link, error)

	Desk desk.Settings // of the support desk

	// interval of a socket's pings; default 25 s. A socket is closed if nothing arrives for 0.4 of it after a
	// ping, or if the page leaves two unanswered
	PingEvery time.Duration
	// how often the replica sends a heartbeat and some mirrors are compared with the engine; default 700
	// ms, or a twelfth of the engine's AwayAfter where that is less, 50 ms at the least
	Beat         time.Duration
	Probe        time.Duration // how often the subscription is tested; default 1 s
	Coalesce     time.Duration // the back of the line is sent changes no more often; default 250 ms
	WriteTimeout time.Duration // a socket that takes nothing for as long is slow; default 5 s
	CloseGrace   time.Duration // how long a peer has to answer a close; default 1 s
	DrainSpread  time.Duration // over how long a drain's closes are spread, at the least; default 2 s
	Linger       time.Duration // how long a room without sockets is still followed; default 30 s
	WriteBuffer  int           // a socket's kernel write buffer, bytes; default 8 KiB
	Writers      int           // size of the writer pool; default 2 per processor
}

func (c Config) withDefaults() Config {
	setDefault(&c.PingEvery, 25*time.Second)
	setDefault(&c.Beat, min(700*time.Millisecond, max(c.Engine.Config().AwayAfter/12, 50*time.Millisecond)))
	setDefault(&c.Probe, time.Second)
	setDefault(&c.Coalesce, 250*time.Millisecond)
	setDefault(&c.WriteTimeout, 5*time.Second)
	setDefault(&c.CloseGrace, time.Second)
	setDefault(&c.DrainSpread, 2*time.Second)
	setDefault(&c.Linger, 30*time.Second)
	setDefault(&c.WriteBuffer, 8<<10)
	setDefault(&c.Writers, 2*runtime.GOMAXPROCS(0))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return c
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
