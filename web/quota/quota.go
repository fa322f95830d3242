// Package quota limits one client address: its rate of joins, and its live places over all rooms. Redis
// enforces the limits for all replicas, in one round trip before a join.
package quota

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

//go:embed admit.lua
var admitLua string

//go:embed undo.lua
var undoLua string

var (
	admitScript = redis.NewScript(admitLua)
	undoScript  = redis.NewScript(undoLua)
)

const (
	remembered = 26 * time.Hour // as long as an idle room is kept
	askAgain   = time.Second    // the retry delay of an address with too many places
	kept       = 1 << 14        // addresses and places that this replica remembers
)

// Looker returns the state of sessions in a room, and works on many rooms; *room.Engine implements it.
type Looker interface {
	Look(ctx context.Context, id room.ID, sessions ...string) (room.View, []room.Seat, error)
	EachRoom(ctx context.Context, ids []room.ID, within time.Duration,
		f func(context.Context, room.ID) error) map[room.ID]error
}

// Config configures a Quota. Redis and Rooms are required.
type Config struct {
	Redis  redis.UniversalClient
	Names  room.Names // the names of its keys in Redis
	Rooms  Looker
	Rate   Rate
	Places int // live places of one address over all rooms; 0 = no limit
	OfRoom int // of these in one room; 0 = no limit
	// Prefixed reports whether a room is of a prefix, so that a client may make it; nil = none is
	Prefixed func(room.ID) bool
	Key      []byte // makes addresses unreadable in Redis; the same on all replicas
}

// Limited is the refusal of a join.
type Limited struct {
	Setting string        // the limit that refused it
	After   time.Duration // the retry delay
	New     bool          // only a new place is refused: a session gets the place that it has
}

func (l Limited) Error() string { return "refused for " + l.Setting }

// The settings of the limits.
const (
	RateLimit   = "RATE_LIMIT"
	PlacesPerIP = "PLACES_PER_IP"
	Rooms       = "ROOMS"
)

// Quota limits joins. It is safe for concurrent use.
type Quota struct {
	cfg     Config
	pending time.Duration               // how long a join may be in flight
	checks  *lru.Cache[string, *check]  // by address
	settled *lru.Cache[string, settled] // place → its last join that has finished

	rooms     *lru.Cache[string, time.Time] // room → when this replica last counted it
	mostRooms int
}

// New returns nil without a limit.
func New(cfg Config) *Quota {
	if cfg.Rate == (Rate{}) && cfg.Places == 0 {
		return nil
	}
	return &Quota{cfg: cfg, pending: pending, checks: cache[*check](), settled: cache[settled](),
		rooms: cache[time.Time](), mostRooms: MostRooms}
}

func cache[V any]() *lru.Cache[string, V] {
	c, err := lru.New[string, V](kept)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return c
}

// Admission permits one join. The zero value counts nothing.
type Admission struct {
	q      *Quota
	places string
	day    string
	place  string
	mark   float64
	fresh  bool // this admission began to count the place
}

// Admit counts a session's join to a room, or refuses it with Limited and counts nothing. A place that the
// session already has is not counted twice. If the store fails, the join is refused with room.ErrStore:
// otherwise slowing the store down would lift all limits.
func (q *Quota) Admit(ctx context.Context, from netip.Addr, id room.ID, session string) (Admission, error) {
	if q == nil {
		return Admission{}, nil
	}
	address := q.digest(from)
	a, err := q.admit(ctx, address, id, session)
	if full, ok := errors.AsType[full](err); ok {
		if q.check(ctx, address, full) {
			a, err = q.admit(ctx, address, id, session)
		}
	}
	if _, ok := errors.AsType[full](err); ok {
		return Admission{}, Limited{Setting: PlacesPerIP, After: askAgain, New: true}
	}
	if err == nil && a.fresh {
		if err = q.admitRoom(ctx, address, id); err != nil {
			a.Refused(ctx)
			return Admission{}, err
		}
	}
	return a, err
}

func (q *Quota) admit(ctx context.Context, address string, id room.ID, session string) (Admission, error) {
	cost := q.cfg.Rate.interval()
	places, place := q.key(address, "places"), string(id)+" "+session
	day, price := q.key(address, "day"), q.cfg.Rate.dayPrice()
	reply, err := admitScript.Run(ctx, q.cfg.Redis, []string{q.key(address, "joins"), places, day}, cost,
		cost*float64(q.cfg.Rate.Burst-1),
		q.cfg.Places, place, remembered.Milliseconds(), namedAtMost, q.cfg.OfRoom, rand.Float64(),
		price, price*(q.cfg.Rate.perDay()-1)).StringSlice()
	if err != nil {
		return Admission{}, fmt.Errorf("%w: judge limits: %w", room.ErrStore, err)
	}
	if reply[0] == "places" {
		return Admission{}, full(reply[1:])
	}
	number, err := strconv.ParseFloat(reply[1], 64)
	if err != nil {
		return Admission{}, fmt.Errorf("%w: judge limits: %w", room.ErrStore, err)
	}
	if reply[0] != "ok" {
		return Admission{}, Limited{Setting: RateLimit, After: time.Duration(number) * time.Millisecond,
			New: reply[0] == "day"}
	}
	return Admission{q: q, places: places, day: day, place: place, mark: number, fresh: reply[2] == "1"}, nil
}

// settled is a join that has finished: its admission's mark, and the ticket of the place.
type settled struct {
	mark   float64
	ticket int64
}

// Joined records that the join has finished, with the ticket of its place. A repeat takes nothing of the
// day's new places.
func (a Admission) Joined(ctx context.Context, ticket int64) {
	if a.q == nil {
		return
	}
	name := a.places + " " + a.place
	before, ok := a.q.settled.Peek(name)
	a.q.settled.Add(name, settled{a.mark, ticket})
	if ok && before.ticket == ticket {
		a.giveBack(ctx)
	}
}

// Refused takes the admission back: the place is not counted, unless a concurrent join asks for it.
func (a Admission) Refused(ctx context.Context) {
	switch {
	case a.q == nil:
	case a.fresh:
		a.giveBack(ctx, a.place, a.mark)
	default:
		a.giveBack(ctx)
	}
}

// giveBack uncounts a place, and the admission's part of the day. If this fails, the place counts until the
// address reaches its limit and its places are looked up.
func (a Admission) giveBack(ctx context.Context, place ...any) {
	price := a.q.cfg.Rate.dayPrice()
	if price == 0 && len(place) == 0 {
		return
	}
	_ = undoScript.Run(ctx, a.q.cfg.Redis, []string{a.places, a.day}, append([]any{price}, place...)...).Err()
}

// digest makes an address unreadable in Redis.
func (q *Quota) digest(from netip.Addr) string {
	mac := hmac.New(sha256.New, q.cfg.Key)
	mac.Write([]byte("waitroom limits " + from.String()))
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

func (q *Quota) key(address, name string) string {
	return q.cfg.Names.Key("{waitroom-limit:" + address + "}:" + name)
}
