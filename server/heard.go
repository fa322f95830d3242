package server

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

const (
	sourcesKey  = "{waitroom}:sources"
	heardEvery  = 10 * time.Second // it is written down no more often, of a room and source
	heardWithin = 500 * time.Millisecond
)

// heard writes down when a source last sent a signed request.
type heard struct {
	client redis.UniversalClient
	key    string
	at     func(time.Time) int64 // Redis's time

	mu   sync.Mutex
	last map[string]time.Time // by field
}

func newHeard(client redis.UniversalClient, names room.Names, at func(time.Time) int64) *heard {
	return &heard{client: client, key: names.Key(sourcesKey), at: at, last: make(map[string]time.Time)}
}

// note does nothing where the store is away: the message itself says so.
func (h *heard) note(ctx context.Context, id room.ID, name string) {
	field, now := heardField(id, name), time.Now()
	if !h.due(field, now) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	_ = h.client.HSet(ctx, h.key, field, cmp.Or(h.at(now), now.UnixMilli())).Err()
}

func (h *heard) due(field string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.last[field]) < heardEvery {
		return false
	}
	h.last[field] = now
	return true
}

func heardField(id room.ID, name string) string { return string(id) + "/" + name }

// lastHeard is when each source of each room was last heard, by heardField.
func lastHeard(ctx context.Context, client redis.UniversalClient, names room.Names) (
	map[string]time.Time, error,
) {
	fields, err := client.HGetAll(ctx, names.Key(sourcesKey)).Result()
	if err != nil {
		return nil, err
	}
	all := make(map[string]time.Time, len(fields))
	for field, text := range fields {
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil && strings.Contains(field, "/") {
			all[field] = time.UnixMilli(ms)
		}
	}
	return all, nil
}
