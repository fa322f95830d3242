package doctor

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// keys reports what Redis has of a room, key by key. The records of the lock and of the state are printed, of
// the other keys how much they have. Nothing that is printed lets a reader act as a seller or read a message.
func (d *doctor) keys(ctx context.Context, name string) {
	const about = "redis"
	id, err := room.ParseID(name)
	if err != nil {
		d.wrong(about, "Give the name of a room, as it is in its page's address.", "%s", plain(err.Error()))
		return
	}
	s, names, ok := d.opened(about, "Look at the room's desk, /support/"+string(id)+".")
	if !ok {
		return
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	for _, key := range names.Keys(id) {
		text, err := contentOf(ctx, s.Client, key)
		if err != nil {
			d.wrong(about, "waitroom doctor reports why.", "Redis does not answer.")
			return
		}
		if text != "" {
			d.fine(key[strings.LastIndexByte(key, ':')+1:], "%s", text)
		}
	}
	if len(d.findings) == 0 {
		d.warn(about, "A room has keys from its first join until 26 hours after its last change.",
			"Redis has no key of the room %s.", id)
	}
}

// contentOf returns what a key has and when it expires, in words; "" if there is no such key.
func contentOf(ctx context.Context, rdb redis.UniversalClient, key string) (text string, err error) {
	kind, err := rdb.Type(ctx, key).Result()
	if err != nil {
		return "", err
	}
	var n int64
	switch kind {
	case "string":
		text, err = rdb.Get(ctx, key).Result()
		text = withoutSessions(text)
	case "hash":
		text, n, err = hashOf(ctx, rdb, key)
	case "zset":
		n, err = rdb.ZCard(ctx, key).Result()
	case "stream":
		n, err = rdb.XLen(ctx, key).Result()
	default:
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if text == "" {
		text = fmt.Sprintf("a %s with %d entries", kind, n)
	}
	ttl, err := rdb.PTTL(ctx, key).Result()
	if ttl > 0 {
		text += fmt.Sprintf("; expires in %s", ttl.Round(time.Second))
	}
	return text, err
}

// hashOf returns the records of a state, and of any other hash only how many fields it has.
func hashOf(ctx context.Context, rdb redis.UniversalClient, key string) (text string, n int64, err error) {
	if !strings.HasSuffix(key, ":state") {
		n, err = rdb.HLen(ctx, key).Result()
		return "", n, err
	}
	fields, err := rdb.HGetAll(ctx, key).Result()
	if err != nil {
		return "", 0, err
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, name+" "+withoutSessions(fields[name]))
	}
	return strings.Join(lines, "\n                 "), 0, nil
}

// sessions matches the ids of sessions, which are credentials.
var sessions = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func withoutSessions(text string) string { return sessions.ReplaceAllString(printable(text), "…") }
