package quota

import (
	"context"
	_ "embed" // of the script
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

//go:embed room.lua
var roomLua string

var roomScript = redis.NewScript(roomLua)

// MostRooms is the most rooms of prefixes (`prefix:*` of ROOMS) in use within a day, over all addresses: each
// takes about 3 KB of Redis.
const MostRooms = 100_000

// countAgain is how often this replica counts a room in use, which is much more often than it is forgotten.
const countAgain = time.Hour

// admitRoom counts a room of a prefix, or refuses it with Limited where too many are in use.
func (q *Quota) admitRoom(ctx context.Context, id room.ID) error {
	if q.cfg.Rate == (Rate{}) || q.cfg.Prefixed == nil || !q.cfg.Prefixed(id) {
		return nil
	}
	if at, ok := q.rooms.Peek(string(id)); ok && time.Since(at) < countAgain {
		return nil
	}
	wait, err := roomScript.Run(ctx, q.cfg.Redis, []string{q.cfg.Names.Key("{waitroom-limit}:rooms")},
		string(id), remembered.Milliseconds(), q.mostRooms).Int64()
	switch {
	case err != nil:
		return fmt.Errorf("%w: judge limits: %w", room.ErrStore, err)
	case wait > 0:
		return Limited{Setting: Rooms, After: time.Duration(wait) * time.Millisecond, New: true}
	}
	q.rooms.Add(string(id), time.Now())
	return nil
}
