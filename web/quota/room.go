package quota

import (
	"context"
	_ "embed" // of the script
	"fmt"
	"strconv"
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

// roomsADay divides MostRooms. One address may open a twentieth of them as new rooms of prefixes at once, and
// again in the course of a day. It has at most 2.1 times as many among the rooms of 26 hours.
const roomsADay = 20

// countAgain is how often this replica counts a room in use, which is much more often than it is forgotten.
const countAgain = time.Hour

// admitRoom counts a room of a prefix. It refuses with Limited where too many are in use, or where the
// address opens too many new ones.
func (q *Quota) admitRoom(ctx context.Context, address string, id room.ID) error {
	if q.cfg.Rate == (Rate{}) || q.cfg.Prefixed == nil || !q.cfg.Prefixed(id) {
		return nil
	}
	if at, ok := q.rooms.Peek(string(id)); ok && time.Since(at) < countAgain {
		return nil
	}
	rooms := q.cfg.Names.Key("{waitroom-limit}:rooms")
	reply, err := roomScript.Run(ctx, q.cfg.Redis, []string{rooms}, string(id), remembered.Milliseconds(),
		q.mostRooms).StringSlice()
	if err != nil {
		return fmt.Errorf("%w: judge limits: %w", room.ErrStore, err)
	}
	if err := roomsLimit(reply[0], reply[0] != "0"); err != nil {
		return err
	}
	if mark := reply[1]; mark != "" {
		if err := q.payRoom(ctx, address); err != nil {
			_ = undoScript.Run(ctx, q.cfg.Redis, []string{rooms}, 0, string(id), mark).Err()
			return err
		}
	}
	q.rooms.Add(string(id), time.Now())
	return nil
}

// payRoom counts a new room of an address, or refuses it with Limited.
func (q *Quota) payRoom(ctx context.Context, address string) error {
	most := float64(max(q.mostRooms/roomsADay, 1))
	price := float64(24*time.Hour/time.Microsecond) / most
	reply, err := admitScript.Run(ctx, q.cfg.Redis, []string{q.key(address, "rooms")}, price, price*(most-1),
		0, "", 0, 0, 0, 0, 0, 0).StringSlice()
	if err != nil {
		return fmt.Errorf("%w: judge limits: %w", room.ErrStore, err)
	}
	return roomsLimit(reply[1], reply[0] != "ok")
}

// roomsLimit returns the refusal of a new room for so many ms; nil unless it is refused.
func roomsLimit(ms string, refused bool) error {
	if !refused {
		return nil
	}
	wait, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: judge limits: %w", room.ErrStore, err)
	}
	return Limited{Setting: Rooms, After: time.Duration(wait) * time.Millisecond, New: true}
}
