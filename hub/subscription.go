package hub

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// missedProbes is how many probes may be published without coming back before the connection is
// taken for dead: a socket to a demoted master looks healthy.
const missedProbes = 2

// subscription is the one Pub/Sub connection for all rooms that have sockets here. Every confirmation
// of a room's channel, the first and those after a reconnect, makes its mirror take a snapshot.
type subscription struct {
	h       *Hub
	channel string // its own, for the probe
	start   time.Time
	heard   atomic.Int64 // when the last probe came back, ns since start; 0 = none yet
	missing atomic.Int64 // probes published and not come back

	channels *channels
	patterns *channels

	mu     sync.Mutex
	ps     *redis.PubSub
	closed bool
}

func newSubscription(h *Hub) *subscription {
	s := &subscription{h: h, channel: "{waitroom}:probe:" + uuid.NewString(), start: time.Now(), channels: newChannels(), patterns: newChannels()}
	s.channels.add(s.channel)
	s.channels.add(signedOut)
	return s
}

func (s *subscription) add(id room.ID)    { s.channels.add(room.Channel(id)) }
func (s *subscription) remove(id room.ID) { s.channels.remove(room.Channel(id)) }

// receive is the loop that everything told by Redis goes through.
func (s *subscription) receive(ctx context.Context) {
	wait := retryFirst
	for ctx.Err() == nil {
		ps := s.current(ctx)
		if ps == nil {
			return
		}
		msg, err := ps.Receive(ctx)
		if err != nil {
			// The client connects and subscribes again by itself; the confirmations come through here.
			if !pause(ctx, wait) {
				return
			}
			wait = min(2*wait, retryMost/2)
			continue
		}
		wait = retryFirst
		switch m := msg.(type) {
		case *redis.Subscription:
			s.confirmed(m)
		case *redis.Message:
			s.message(m)
		}
	}
}

// current is the connection, made anew after reset.
func (s *subscription) current(ctx context.Context) *redis.PubSub {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.ps == nil {
		s.ps = s.h.cfg.Redis.Subscribe(ctx)
		s.channels.again()
		s.patterns.again()
	}
	return s.ps
}

// subscribe carries out what add and remove asked for, as many at a time as there are by then.
func (s *subscription) subscribe(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.channels.kick:
		case <-s.patterns.kick:
		}
		s.mu.Lock()
		ps := s.ps
		s.mu.Unlock()
		if ps == nil {
			continue // the one who makes it asks again
		}
		s.channels.carryOut(ctx, ps.Subscribe, ps.Unsubscribe)
		s.patterns.carryOut(ctx, ps.PSubscribe, ps.PUnsubscribe)
	}
}

func (s *subscription) confirmed(m *redis.Subscription) {
	switch {
	case m.Kind == "psubscribe":
		s.h.overview.again()
		return
	case m.Kind != "subscribe":
		return
	case m.Channel == s.channel:
		s.alive()
		return
	case m.Channel == signedOut:
		s.h.desks.check()
		return
	}
	if l := s.h.hall(roomOf(m.Channel)); l != nil {
		l.confirmed()
	}
}

// alive says that something came from the other side just now.
func (s *subscription) alive() {
	s.missing.Store(0)
	s.heard.Store(int64(time.Since(s.start)))
}

func (s *subscription) message(m *redis.Message) {
	switch {
	case m.Pattern != "":
		s.h.overview.touch(roomOf(m.Channel))
		return
	case m.Channel == s.channel:
		s.alive()
		return
	case m.Channel == signedOut:
		s.h.desks.signOut(m.Payload)
		return
	case m.Channel == replicasChannel:
		s.h.replicas.message(m.Payload)
		return
	}
	l := s.h.hall(roomOf(m.Channel))
	if l == nil {
		return
	}
	e, err := room.ParseEvent(m.Payload)
	if err != nil {
		s.h.log.Error("event not understood", "room", l.id, "error", err)
		return
	}
	s.h.clock.sample(e.Now)
	s.h.engine.Heard(l.id, &e)
	l.event(e)
}

// roomOf is the room of a channel or key "{room}:name", "" where it is none.
func roomOf(channel string) room.ID {
	if rest, ok := strings.CutPrefix(channel, "{"); ok {
		if id, _, ok := strings.Cut(rest, "}"); ok {
			return room.ID(id)
		}
	}
	return ""
}

// probe publishes to ourselves and makes a new connection when that does not come back.
func (s *subscription) probe(ctx context.Context) {
	tick := time.NewTicker(s.h.cfg.Probe)
	defer tick.Stop()
	for n := 0; ; n++ {
		if s.missing.Load() >= missedProbes {
			s.reset()
		}
		if err := s.h.cfg.Redis.Publish(ctx, s.channel, strconv.Itoa(n)).Err(); err == nil {
			s.missing.Add(1)
			s.h.replicas.announce(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reset drops the connection; receive makes a new one.
func (s *subscription) reset() {
	s.h.metrics.reconnects.Inc()
	s.h.log.Warn("subscription is silent: connecting again")
	s.missing.Store(0)
	s.h.clock.forget()
	s.mu.Lock()
	ps := s.ps
	s.ps = nil
	s.mu.Unlock()
	if ps != nil {
		_ = ps.Close()
	}
}

func (s *subscription) close() {
	s.mu.Lock()
	ps := s.ps
	s.ps, s.closed = nil, true
	s.mu.Unlock()
	if ps != nil {
		_ = ps.Close()
	}
}

func (s *subscription) fresh() bool {
	heard := s.heard.Load()
	return heard != 0 && time.Since(s.start)-time.Duration(heard) < 3*s.h.cfg.Probe
}

// asOf is when a probe came back last, in unix ms of Redis's clock.
func (s *subscription) asOf() int64 {
	silent := time.Since(s.start) - time.Duration(s.heard.Load())
	return s.h.clock.ms() - silent.Milliseconds()
}

// lost reports that the subscription has been dead for so long that a new socket would be told
// nothing, or old news.
func (s *subscription) lost() bool {
	return time.Since(s.start)-time.Duration(s.heard.Load()) >= 3*s.h.cfg.Probe
}
