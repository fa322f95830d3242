package room_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const lockRoom room.ID = "lock:uncontended"

const (
	taker   = "a0000000-0000-4000-8000-000000000001"
	another = "b0000000-0000-4000-8000-000000000002"
)

// quiet returns an engine that is configured as the Go lock library configures its own.
func quiet(rdb redis.UniversalClient) *room.Engine {
	return room.New(rdb, room.Config{AwayAfter: time.Millisecond, DropAfter: 5 * time.Second, Outcomes: -1,
		Leases: -1, Silent: true, Ephemeral: true, Prefix: "lock:"})
}

// play records the keys and replies of a scenario, without what differs between runs: times, fences, sessions
// and averages.
type play struct {
	t       *testing.T
	rdb     redis.UniversalClient
	e       *room.Engine
	session string
	seen    []string
	ends    []map[string]time.Duration
}

var (
	instants = regexp.MustCompile(`\d\.\d+e\+12|\d{13,16}|\d{4}-\d\d-\d\dT[\d:.]+Z`)
	averages = regexp.MustCompile(`\d+\.\d{3}|"(Average|Spread|Hold)\w*":\d+`)
	sessions = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
)

func plain(what string) string {
	for _, varies := range []*regexp.Regexp{sessions, instants, averages} {
		what = varies.ReplaceAllString(what, "*")
	}
	return what
}

// look records every key of the room, and when it expires.
func (p *play) look() {
	ctx, ends := p.t.Context(), map[string]time.Duration{}
	var seen []string
	keys, err := p.rdb.Keys(ctx, "{"+string(lockRoom)+"}:*").Result()
	require.NoError(p.t, err)
	for _, key := range keys {
		var value any
		switch kind := p.rdb.Type(ctx, key).Val(); kind {
		case "hash":
			value = p.rdb.HGetAll(ctx, key).Val()
		case "zset":
			value, err = p.rdb.Do(ctx, "ZRANGE", key, 0, -1, "WITHSCORES").Result()
			require.NoError(p.t, err)
		default:
			require.Equal(p.t, "string", kind, key)
			value = p.rdb.Get(ctx, key).Val()
		}
		seen = append(seen, plain(fmt.Sprint(key, " ", value)))
		ends[plain(key)] = p.rdb.PTTL(ctx, key).Val()
	}
	slices.Sort(seen)
	p.seen, p.ends = append(p.seen, seen...), append(p.ends, ends)
}

func (p *play) record(st room.Standing, err error) {
	text, failed := json.Marshal(st)
	require.NoError(p.t, failed)
	if err != nil {
		text = []byte(err.Error())
	}
	p.seen = append(p.seen, plain(string(text)))
	p.look()
}

func (p *play) join(q room.JoinRequest) {
	if q.Session == "" {
		q.Session = p.session
	}
	q.Fresh = q.Request == ""
	p.record(p.e.Join(p.t.Context(), lockRoom, q))
}

func (p *play) leave(q room.LeaveRequest) {
	if q.Session == "" {
		q.Session = p.session
	}
	q.Outcome = room.Completed
	p.record(p.e.Leave(p.t.Context(), lockRoom, q))
}

func (p *play) state(field string) string {
	return redistest.State(p.t, p.rdb, string(lockRoom), field)
}

func (p *play) set(member string, value any) {
	redistest.SetState(p.t, p.rdb, string(lockRoom), member, value)
}

func key(name string) string { return "{" + string(lockRoom) + "}:" + name }

// The short path runs little of the script. The keys that it leaves and its replies equal those of the long
// path.
func TestAnUncontendedLockIsTakenAndGivenBackAsAnyOther(t *testing.T) {
	stories := map[string]func(p *play){
		"again and again": func(p *play) {
			for range 3 {
				p.join(room.JoinRequest{})
				p.leave(room.LeaveRequest{})
			}
		},
		"a lease of its own, a channel, asks": func(p *play) {
			p.join(room.JoinRequest{Lease: 7 * time.Second, Channel: "channel", Asks: true,
				Vouch: time.Second})
			p.leave(room.LeaveRequest{Ticket: 1})
		},
		"it must not wait": func(p *play) { p.join(room.JoinRequest{NoWait: true}) },
		"joined twice": func(p *play) {
			p.join(room.JoinRequest{})
			p.join(room.JoinRequest{})
		},
		"another waits": func(p *play) {
			p.join(room.JoinRequest{})
			p.join(room.JoinRequest{Session: another, Vouch: time.Minute})
			p.leave(room.LeaveRequest{})
		},
		"another fence": func(p *play) {
			p.join(room.JoinRequest{})
			p.leave(room.LeaveRequest{Fence: 1})
		},
		"another ticket": func(p *play) {
			p.join(room.JoinRequest{})
			p.leave(room.LeaveRequest{Ticket: 2})
		},
		"a repeat": func(p *play) {
			p.join(room.JoinRequest{})
			p.leave(room.LeaveRequest{Request: "0f7c4b7e-0000-4000-8000-000000000001"})
			p.join(room.JoinRequest{})
			require.NoError(p.t, p.rdb.PExpire(p.t.Context(),
				key("request:0f7c4b7e-0000-4000-8000-000000000001"), time.Minute).Err())
			// a repeat: its reply is kept again for as long as the first one
			p.leave(room.LeaveRequest{Request: "0f7c4b7e-0000-4000-8000-000000000001"})
		},
		"an id of its own, and a repeat of that": func(p *play) {
			p.join(room.JoinRequest{Request: "0f7c4b7e-0000-4000-8000-000000000001"})
			p.leave(room.LeaveRequest{})
			p.join(room.JoinRequest{Request: "0f7c4b7e-0000-4000-8000-000000000001"})
		},
		"a ticket of before": func(p *play) { p.join(room.JoinRequest{Ticket: 1}) },
		"a seller of a name": func(p *play) {
			p.join(room.JoinRequest{Seller: "seller"})
			p.join(room.JoinRequest{Seller: "seller", Session: another})
			p.leave(room.LeaveRequest{})
		},
		"it is free": func(p *play) { p.leave(room.LeaveRequest{}) },
		"the lease is over": func(p *play) {
			p.join(room.JoinRequest{})
			p.set("lease.expires", json.Number(p.state("lease.granted")))
			p.leave(room.LeaveRequest{})
		},
		"the lock was deleted": func(p *play) {
			p.join(room.JoinRequest{})
			require.NoError(p.t, p.rdb.Del(p.t.Context(), key("lock")).Err())
			p.leave(room.LeaveRequest{})
		},
		"the state was lost": func(p *play) {
			p.join(room.JoinRequest{})
			require.NoError(p.t, p.rdb.Del(p.t.Context(), key("state"), key("lock")).Err())
			p.join(room.JoinRequest{Session: another})
		},
		"a line was left": func(p *play) {
			require.NoError(p.t,
				p.rdb.ZAdd(p.t.Context(), key("queue"), redis.Z{Score: 1, Member: "left"}).Err())
			p.join(room.JoinRequest{})
		},
		"the clock was set back": func(p *play) {
			p.join(room.JoinRequest{})
			p.set("room.advanced_at", 9999999999999)
			p.leave(room.LeaveRequest{})
		},
		"it is paused": func(p *play) {
			p.join(room.JoinRequest{})
			_, err := p.e.Pause(p.t.Context(), lockRoom, "", true, room.Action{})
			require.NoError(p.t, err)
			p.leave(room.LeaveRequest{})
			p.join(room.JoinRequest{NoWait: true})
		},
		"a later program wrote it": func(p *play) {
			p.join(room.JoinRequest{})
			p.set("room.format", 99)
			p.leave(room.LeaveRequest{})
		},
	}
	for _, field := range []string{"room.format", "room.epoch", "room.version", "lease.fence", "lease.ticket",
		"lease.expires", "room.advanced_at", "lease.seller"} {
		stories["the state has no "+field] = func(p *play) {
			p.join(room.JoinRequest{})
			p.set(field, nil)
			p.leave(room.LeaveRequest{Fence: 1, Ticket: 1})
			p.leave(room.LeaveRequest{Ticket: 1})
			p.leave(room.LeaveRequest{})
		}
	}
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				sameBothWays(t, rdb, story)
			})
		}
	})
}

// sameBothWays compares a story on the short path with the same story on the long one.
func sameBothWays(t *testing.T, rdb redis.UniversalClient, story func(*play)) {
	play := func(e *room.Engine) *play {
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		p := &play{t: t, rdb: rdb, e: e, session: taker}
		story(p)
		return p
	}
	short, long := play(quiet(rdb)), play(quiet(rdb).Thorough())
	require.Equal(t, strings.Join(long.seen, "\n"), strings.Join(short.seen, "\n"))
	for i, ends := range long.ends {
		for key, end := range ends {
			require.InDelta(t, end, short.ends[i][key], float64(30*time.Second), key)
		}
	}
}

func TestTheShortPathEqualsTheLongOneInEveryStory(t *testing.T) { storiesAreTheSame(t, 0, 3) }

func storiesAreTheSame(t *testing.T, from, to uint64) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		for seed := from; seed < to; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				sameBothWays(t, rdb, func(p *play) { p.atRandom(rand.New(rand.NewPCG(seed, 1)), 30) })
			})
		}
	})
}

// atRandom makes calls as two clients of a lock do, and injects some failures.
func (p *play) atRandom(rng *rand.Rand, steps int) {
	ctx, paused := p.t.Context(), false
	for range steps {
		p.session = []string{taker, taker, another}[rng.IntN(3)]
		fence := []string{"", p.state("lease.fence"), "1"}[rng.IntN(3)]
		switch rng.IntN(13) {
		case 0, 1, 2, 3:
			p.join(room.JoinRequest{NoWait: rng.IntN(3) == 0, Lease: []time.Duration{0,
				time.Minute}[rng.IntN(2)], Channel: []string{"", "channel"}[rng.IntN(2)], Vouch: time.Hour})
		case 4, 5, 6, 7:
			q := room.LeaveRequest{Request: []string{"", "",
				"0f7c4b7e-0000-4000-8000-000000000001"}[rng.IntN(3)]}
			q.Fence, _ = strconv.ParseInt(fence, 10, 64)
			p.leave(q)
		case 8:
			n, _ := strconv.ParseInt(fence, 10, 64)
			p.record(p.e.Prolong(ctx, lockRoom, "", p.session, n, time.Minute))
		case 9:
			p.record(p.e.Stand(ctx, lockRoom, p.session))
		case 10:
			view, err := p.e.Seen(ctx, lockRoom, time.Hour, []string{p.session}, nil)
			p.record(room.Standing{View: view}, err)
		case 11:
			paused = !paused && rng.IntN(3) == 0
			p.record(p.e.Pause(ctx, lockRoom, "", paused, room.Action{}))
		default:
			if rng.IntN(2) == 0 {
				require.NoError(p.t, p.rdb.Del(ctx, key([]string{"lock", "state"}[rng.IntN(2)])).Err())
			}
		}
	}
}

// The fence of a lock grows however often, and by whichever path, it is taken.
func TestAFenceGrowsOnBothPaths(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		p := &play{t: t, rdb: rdb, e: quiet(rdb), session: taker}
		p.set("room.highest_fence", 9007199254740000) // ahead of Redis's clock, from which fences are made
		for want := int64(9007199254740001); want < 9007199254740005; want++ {
			st, err := p.e.Join(t.Context(), lockRoom,
				room.JoinRequest{Fresh: want%2 == 0, Session: p.session})
			require.NoError(t, err)
			require.Equal(t, want, st.Fence)
			p.leave(room.LeaveRequest{})
		}
	})
}
