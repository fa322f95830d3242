package follow

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// missedProbes is the number of probes in a row that do not come back, with which the connection counts as
// dead: a connection to a demoted master looks healthy.
const missedProbes = 2

// Listener handles the subscription's messages. One goroutine calls it.
type Listener interface {
	Confirmed(*redis.Subscription)
	Message(*redis.Message)
}

// Subscription is the one Pub/Sub connection for all rooms with sockets on this replica. It reports every
// confirmation of a channel, also those after a reconnect, since messages before it may have been missed.
type Subscription struct {
	Channels *Channels
	Patterns *Channels

	cfg      Config
	listener Listener
	channel  string // its own, for the probe
	start    time.Time
	heard    atomic.Int64 // when the last probe came back, ns since start; 0 = none yet
	missing  atomic.Int64 // probes published and not come back

	mu     sync.Mutex
	ps     *redis.PubSub
	closed bool
}

// NewSubscription returns a subscription; Receive, CarryOut and Test have to be started.
func NewSubscription(cfg Config, l Listener) *Subscription {
	s := &Subscription{cfg: cfg, listener: l, channel: cfg.Names.Channel("{waitroom}:probe:" +
		uuid.NewString()), start: time.Now(), Channels: newChannels(), Patterns: newChannels()}
	s.Channels.Add(s.channel)
	return s
}

// Receive receives all messages from Redis.
func (s *Subscription) Receive(ctx context.Context) {
	wait := Backoff{Most: time.Second / 2}
	for ctx.Err() == nil {
		ps := s.current(ctx)
		if ps == nil {
			return
		}
		msg, err := ps.Receive(ctx)
		if err != nil {
			// The client connects and subscribes again by itself; the confirmations come through here.
			if !wait.Wait(ctx) {
				return
			}
			continue
		}
		wait.Reset()
		switch m := msg.(type) {
		case *redis.Subscription:
			s.confirmed(m)
		case *redis.Message:
			s.message(m)
		}
	}
}

// current returns the connection, and opens a new one after reset.
func (s *Subscription) current(ctx context.Context) *redis.PubSub {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.ps == nil {
		s.ps = room.MasterOf(ctx, s.cfg.Redis, s.channel).Subscribe(ctx)
		s.Channels.again()
		s.Patterns.again()
	}
	return s.ps
}

// CarryOut subscribes as Channels and Patterns require, to as many at a time as have gathered.
func (s *Subscription) CarryOut(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Channels.kick:
		case <-s.Patterns.kick:
		}
		s.mu.Lock()
		ps := s.ps
		s.mu.Unlock()
		if ps == nil {
			continue // the caller that makes it asks again
		}
		s.Channels.carryOut(ctx, ps.Subscribe, ps.Unsubscribe)
		s.Patterns.carryOut(ctx, ps.PSubscribe, ps.PUnsubscribe)
	}
}

func (s *Subscription) confirmed(m *redis.Subscription) {
	if m.Kind == "subscribe" && m.Channel == s.channel {
		s.alive()
		return
	}
	s.listener.Confirmed(m)
}

func (s *Subscription) message(m *redis.Message) {
	if m.Pattern == "" && m.Channel == s.channel {
		s.alive()
		return
	}
	s.listener.Message(m)
}

// alive records that a probe, or the confirmation of the probe's channel, has just arrived.
func (s *Subscription) alive() {
	s.missing.Store(0)
	s.heard.Store(int64(time.Since(s.start)))
}

// Test publishes probes to this replica and opens a new connection if they do not come back.
func (s *Subscription) Test(ctx context.Context) {
	tick := time.NewTicker(s.cfg.Probe)
	defer tick.Stop()
	for n := 0; ; n++ {
		if s.missing.Load() >= missedProbes {
			s.reset()
		}
		redis := room.MasterOf(ctx, s.cfg.Redis, s.channel)
		if err := redis.Publish(ctx, s.channel, strconv.Itoa(n)).Err(); err == nil {
			s.missing.Add(1)
			s.cfg.Tested(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reset closes the connection; Receive opens a new one.
func (s *Subscription) reset() {
	s.cfg.Reconnects.Inc()
	s.cfg.Log.Warn("subscription is silent: connecting again")
	s.missing.Store(0)
	s.mu.Lock()
	ps := s.ps
	s.ps = nil
	s.mu.Unlock()
	if ps != nil {
		_ = ps.Close()
	}
}

// Close closes the connection for good.
func (s *Subscription) Close() {
	s.mu.Lock()
	ps := s.ps
	s.ps, s.closed = nil, true
	s.mu.Unlock()
	if ps != nil {
		_ = ps.Close()
	}
}

// Fresh reports whether a probe came back lately.
func (s *Subscription) Fresh() bool {
	heard := s.heard.Load()
	return heard != 0 && time.Since(s.start)-time.Duration(heard) < 3*s.cfg.Probe
}

// AsOf returns when a probe last came back (unix ms of Redis's clock).
func (s *Subscription) AsOf() int64 {
	silent := time.Since(s.start) - time.Duration(s.heard.Load())
	return s.cfg.Clock.MS() - silent.Milliseconds()
}

// Lost reports whether no probe came back for three probe intervals, counted from the start if none ever did.
// A new socket would then get no data or old data.
func (s *Subscription) Lost() bool {
	return time.Since(s.start)-time.Duration(s.heard.Load()) >= 3*s.cfg.Probe
}
