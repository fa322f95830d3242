// Package heard keeps when each source of SMS was last heard, what came from it last, how far its clock is
// off, and who sent codes.
package heard

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

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
)

const (
	key    = "{waitroom}:sources"
	every  = 10 * time.Second // how often a room's source is recorded at most
	within = 500 * time.Millisecond

	keptFor        = 90 * 24 * time.Hour // how long a source is known that was not heard again
	forgetEvery    = 24 * time.Hour      // how often a replica forgets such sources
	mostRemembered = 10_000              // sources, and senders, that a replica remembers: the last used ones
)

// A source's clock counts as ahead if one of its last learntFrom messages came a second before it was sent.
// It counts as behind if learntFrom messages came, and each so late that half of what a clock may be behind
// (see docs/matching.md) is used up. The way of a message takes time, too.
const (
	learntFrom  = 20
	clockAhead  = -time.Second
	clockBehind = 2500 * time.Millisecond
)

// Recorder records when each source of each room last sent a signed request, and how far its clock is off.
type Recorder struct {
	client redis.UniversalClient
	engine *room.Engine
	key    string
	log    *slog.Logger

	mu        sync.Mutex
	sources   *lru.Cache[string, *observed] // by Field
	senders   *lru.Cache[string, time.Time] // when a room's sender was last recorded, by both
	unwritten map[string]*unwritten         // by list
	forgotten time.Time                     // when this replica last forgot sources
}

// observed is what a recorder knows of a source.
type observed struct {
	written  time.Time
	delays   []time.Duration // of the last messages that carry the time of their sending
	reported int64           // the day, since 1970, of the last incident about its clock
}

// New returns a Recorder.
func New(client redis.UniversalClient, engine *room.Engine, log *slog.Logger) *Recorder {
	sources, _ := lru.New[string, *observed](mostRemembered) // an error says that the size is not positive
	senders, _ := lru.New[string, time.Time](mostRemembered)
	return &Recorder{client: client, engine: engine, key: engine.Names().Key(key), log: log,
		sources: sources, senders: senders, unwritten: make(map[string]*unwritten)}
}

// Record records a request. If the store is away it does nothing, since the message itself fails then.
func (h *Recorder) Record(ctx context.Context, id room.ID, n sms.Heard) {
	now := time.Now()
	at := time.UnixMilli(cmp.Or(h.engine.At(now), now.UnixMilli()))
	off, write, report := h.take(Field(id, n.Source), n, now, at.Unix()/(24*60*60))
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if n.Event != "" {
		h.recordEvent(ctx, id, n.Source, n.Event, at)
	}
	if write {
		value := fmt.Sprintf("%d %d", at.UnixMilli(), off.Milliseconds())
		_ = h.client.HSet(ctx, h.key, Field(id, n.Source), value).Err()
		h.forget(ctx, now, at)
	}
	if report {
		subject := cmp.Or(n.Source, "sms") + at.UTC().Format("/2006-01-02")
		if err := h.engine.Incident(ctx, id, "carrier_clock", subject,
			ClockDetail(n.Source, off)); err != nil {
			h.log.WarnContext(ctx, "support could not be notified that a source's clock is off", "room", id, "source",
				n.Source, "error", err)
		}
	}
}

// forget deletes the sources that were not heard for keptFor, once a day: rooms of a prefix come and go.
func (h *Recorder) forget(ctx context.Context, now, at time.Time) {
	h.mu.Lock()
	due := now.Sub(h.forgotten) >= forgetEvery
	if due {
		h.forgotten = now
	}
	h.mu.Unlock()
	if !due {
		return
	}
	all, _ := h.client.HGetAll(ctx, h.key).Result() // without an answer nothing is forgotten until tomorrow
	var old []string
	for field, text := range all {
		if at.Sub(parse(text).At) > keptFor {
			old = append(old, field)
		}
	}
	if len(old) > 0 {
		_ = h.client.HDel(ctx, h.key, old...).Err()
	}
}

// take returns how far the source's clock is off, whether to record that, and whether to report it: once a
// day.
func (h *Recorder) take(field string, n sms.Heard, now time.Time, day int64) (off time.Duration, write,
	report bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, known := h.sources.Get(field)
	if !known {
		s = &observed{}
		h.sources.Add(field, s)
	}
	before := s.off()
	if n.Timed {
		s.delays = append(s.delays[max(0, len(s.delays)-learntFrom+1):], n.Delay)
	}
	off = s.off()
	if write = now.Sub(s.written) >= every || (off == 0) != (before == 0); write {
		s.written = now
	}
	if report = off != 0 && s.reported != day; report {
		s.reported = day
	}
	return off, write, report
}

// off returns how far the clock is behind, negative if ahead; 0 = correct or unknown.
func (s *observed) off() time.Duration {
	if len(s.delays) == 0 {
		return 0
	}
	least := slices.Min(s.delays)
	if least <= clockAhead || len(s.delays) == learntFrom && least >= clockBehind {
		return least
	}
	return 0
}

// ClockDetail is the sentence for support about a clock that is off.
func ClockDetail(source string, off time.Duration) string {
	name := cmp.Or(source, "the carrier")
	if off < 0 {
		return fmt.Sprintf("the clock of %s is ahead by %.1f s or more", name, -off.Seconds())
	}
	return fmt.Sprintf("the clock of %s is behind by up to %.1f s, or its messages take that long: none "+
		"of the last %d came faster",
		name, off.Seconds(), learntFrom)
}

// Field names a room's source in what Read returns.
func Field(id room.ID, name string) string { return string(id) + "/" + name }

// Last is when a source last sent a signed request, and how far its clock is off.
type Last struct {
	At time.Time
	// how far the clock is behind: negative where it is ahead, 0 if it is right or not known
	Off time.Duration
}

// Read returns what is known of some sources, by Field; of all without any.
func Read(ctx context.Context, client redis.UniversalClient, names room.Names,
	of ...string) (map[string]Last, error) {
	all := make(map[string]Last)
	if len(of) == 0 {
		fields, err := client.HGetAll(ctx, names.Key(key)).Result()
		if err != nil {
			return nil, err
		}
		for field, text := range fields {
			all[field] = parse(text)
		}
		return all, nil
	}
	values, err := client.HMGet(ctx, names.Key(key), of...).Result()
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if text, ok := value.(string); ok {
			all[of[i]] = parse(text)
		}
	}
	return all, nil
}

func parse(text string) Last {
	at, off, _ := strings.Cut(text, " ")
	ms, _ := strconv.ParseInt(at, 10, 64) // what is no number was never heard
	behind, _ := strconv.ParseInt(off, 10, 64)
	return Last{time.UnixMilli(ms), time.Duration(behind) * time.Millisecond}
}
