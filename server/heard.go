package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

const (
	sourcesKey  = "{waitroom}:sources"
	heardEvery  = 10 * time.Second // it is written down no more often, of a room and source
	heardWithin = 500 * time.Millisecond
)

// A source's clock is taken to be off where the fastest of its last messages came before it was sent, or so late
// that half of what a clock may be behind (see docs/matching.md) is used up. The way of a message takes time, too.
const (
	learntFrom  = 20
	clockAhead  = -time.Second
	clockBehind = 2500 * time.Millisecond
)

// heard records when each source of each room last sent a signed request, and how far its clock is off.
type heard struct {
	client redis.UniversalClient
	engine *room.Engine
	key    string
	log    *slog.Logger

	mu      sync.Mutex
	sources map[string]*hearing // by heardField
}

type hearing struct {
	written time.Time
	delays  []time.Duration // of the last messages that say when they were sent
	told    int64           // the day, since 1970, on which support was told last that its clock is off
}

func newHeard(client redis.UniversalClient, engine *room.Engine, log *slog.Logger) *heard {
	return &heard{client: client, engine: engine, key: engine.Names().Key(sourcesKey), log: log, sources: make(map[string]*hearing)}
}

// note records a request. It does nothing where the store is away: the message itself says so.
func (h *heard) note(ctx context.Context, id room.ID, n sms.Heard) {
	now := time.Now()
	at := time.UnixMilli(cmp.Or(h.engine.At(now), now.UnixMilli()))
	off, write, tell := h.take(heardField(id, n.Source), n, now, at.Unix()/(24*60*60))
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	if write {
		value := fmt.Sprintf("%d %d", at.UnixMilli(), off.Milliseconds())
		_ = h.client.HSet(ctx, h.key, heardField(id, n.Source), value).Err()
	}
	if tell {
		subject := cmp.Or(n.Source, "sms") + at.UTC().Format("/2006-01-02")
		if err := h.engine.Incident(ctx, id, "carrier_clock", subject, clockDetail(n.Source, off)); err != nil {
			h.log.WarnContext(ctx, "support was not told of a clock that is off", "room", id, "source", n.Source, "error", err)
		}
	}
}

// take says how far the source's clock is off now, whether that is to be written down, and whether support is to
// be told: once a day.
func (h *heard) take(field string, n sms.Heard, now time.Time, day int64) (off time.Duration, write, tell bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sources[field]
	if s == nil {
		s = &hearing{}
		h.sources[field] = s
	}
	before := s.off()
	if n.Timed {
		s.delays = append(s.delays[max(0, len(s.delays)-learntFrom+1):], n.Delay)
	}
	off = s.off()
	if write = now.Sub(s.written) >= heardEvery || (off == 0) != (before == 0); write {
		s.written = now
	}
	if tell = off != 0 && s.told != day; tell {
		s.told = day
	}
	return off, write, tell
}

// off is how far the clock is behind, negative where it is ahead; 0 where it is right or not known.
func (s *hearing) off() time.Duration {
	if len(s.delays) == 0 {
		return 0
	}
	least := slices.Min(s.delays)
	if least <= clockAhead || len(s.delays) == learntFrom && least >= clockBehind {
		return least
	}
	return 0
}

func clockDetail(source string, off time.Duration) string {
	name := cmp.Or(source, "the carrier")
	if off < 0 {
		return fmt.Sprintf("the clock of %s is ahead by %.1f s or more", name, -off.Seconds())
	}
	return fmt.Sprintf("the clock of %s is behind by up to %.1f s, or its messages take that long: none of the last %d came faster",
		name, off.Seconds(), learntFrom)
}

func heardField(id room.ID, name string) string { return string(id) + "/" + name }

// lastHeard is when a source last sent a signed request, and how far its clock is behind: negative where it is
// ahead, 0 where it is right or not known.
type lastHeard struct {
	at  time.Time
	off time.Duration
}

// readHeard reads what is known of some sources, by heardField; of all without any.
func readHeard(ctx context.Context, client redis.UniversalClient, names room.Names, of ...string) (map[string]lastHeard, error) {
	all := make(map[string]lastHeard)
	if len(of) == 0 {
		fields, err := client.HGetAll(ctx, names.Key(sourcesKey)).Result()
		if err != nil {
			return nil, err
		}
		for field, text := range fields {
			all[field] = parseHeard(text)
		}
		return all, nil
	}
	values, err := client.HMGet(ctx, names.Key(sourcesKey), of...).Result()
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if text, ok := value.(string); ok {
			all[of[i]] = parseHeard(text)
		}
	}
	return all, nil
}

func parseHeard(text string) lastHeard {
	at, off, _ := strings.Cut(text, " ")
	ms, _ := strconv.ParseInt(at, 10, 64) // what is no number was never heard
	behind, _ := strconv.ParseInt(off, 10, 64)
	return lastHeard{time.UnixMilli(ms), time.Duration(behind) * time.Millisecond}
}
