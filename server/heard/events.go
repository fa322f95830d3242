package heard

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// Events that are no messages are counted for spans of ten minutes, of which the last hour's are kept.
const (
	eventsKey  = "{waitroom}:events:"
	span       = 10 * time.Minute
	spansShown = 6
	mostNames  = 200 // events of all sources of a room in a span: their names are the sources'
)

// countEvent counts an event of a room's source.
var countEvent = redis.NewScript(`
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[2]) and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
return redis.call('PEXPIRE', KEYS[1], ARGV[3])`)

func spanKey(names room.Names, id room.ID, at time.Time, back int64) string {
	n := at.UnixMilli()/span.Milliseconds() - back
	return names.Key(eventsKey + string(id) + ":" + strconv.FormatInt(n, 10))
}

// recordEvent counts an event. If the store is away it is lost: the metrics have it.
func (h *Recorder) recordEvent(ctx context.Context, id room.ID, source, event string, at time.Time) {
	key := spanKey(h.engine.Names(), id, at, 0)
	_ = countEvent.Run(ctx, h.client, []string{key}, source+"/"+event, mostNames,
		((spansShown + 1) * span).Milliseconds()).Err()
}

// Events returns how often each event of a room's sources came within the last hour, to ten minutes: by
// source and name.
func Events(ctx context.Context, client redis.UniversalClient, names room.Names, id room.ID,
	now time.Time) (map[string]map[string]int, error) {
	pipe := client.Pipeline()
	answers := make([]*redis.MapStringStringCmd, spansShown)
	for i := range answers {
		answers[i] = pipe.HGetAll(ctx, spanKey(names, id, now, int64(i)))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	counts := make(map[string]map[string]int)
	for _, answer := range answers {
		for field, text := range answer.Val() {
			source, event, _ := strings.Cut(field, "/")
			n, _ := strconv.Atoi(text) // HINCRBY wrote it
			if counts[source] == nil {
				counts[source] = make(map[string]int)
			}
			counts[source][event] += n
		}
	}
	return counts, nil
}
