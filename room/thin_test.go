package room_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const lockRoom room.ID = "lock:thin"

const (
	taker   = "a0000000-0000-4000-8000-000000000001"
	another = "b0000000-0000-4000-8000-000000000002"
	leaving = "0f7c4b7e-0000-4000-8000-000000000001"
)

// quiet returns an engine that is configured as the Go lock library configures its own.
func quiet(rdb redis.UniversalClient) *room.Engine {
	return room.New(rdb, room.Config{AwayAfter: time.Millisecond, DropAfter: 5 * time.Second, Outcomes: -1,
		Leases: -1, Silent: true, Ephemeral: true})
}

func key(name string) string { return "{" + string(lockRoom) + "}:" + name }

// play records what the clients of a lock see in a scenario, without times and fences, which differ between
// runs, and without epochs, versions and tickets, which a thin lock does not have.
type play struct {
	t     *testing.T
	rdb   redis.UniversalClient
	e     *room.Engine
	fence int64 // of the last lease that a reply had
	seen  []string
}

func (p *play) record(st room.Standing, err error) {
	p.t.Helper()
	if st.Lease != nil {
		p.fence = st.Lease.Fence
	}
	lease := int64(0)
	if st.Lease != nil {
		lease = (st.Lease.ExpiresAt - st.Lease.GrantedAt) / 1000
	}
	line, failed := p.rdb.ZRange(p.t.Context(), key("queue"), 0, -1).Result()
	require.NoError(p.t, failed)
	var holder struct {
		Session string `json:"session_id"`
	}
	if text := p.rdb.Get(p.t.Context(), key("lock")).Val(); text != "" {
		require.NoError(p.t, json.Unmarshal([]byte(text), &holder))
	}
	p.seen = append(p.seen, fmt.Sprint(st.Status, st.Place.Fence != 0, st.Position, st.Waiting, st.Paused, lease,
		err, line, holder.Session))
}

func (p *play) join(q room.JoinRequest) {
	q.Fresh = q.Request == ""
	p.record(p.e.Join(p.t.Context(), lockRoom, q))
}

func (p *play) leave(q room.LeaveRequest) {
	q.Outcome = room.Completed
	p.record(p.e.Leave(p.t.Context(), lockRoom, q))
}

// A thin lock answers as a room does that has a state from its first call on.
func TestAThinLockIsTakenAndGivenBackAsAnyOther(t *testing.T) {
	stories := map[string]func(p *play){
		"again and again": func(p *play) {
			for range 3 {
				p.join(room.JoinRequest{Session: taker})
				p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
			}
		},
		"a lease of its own, a channel, asks": func(p *play) {
			p.join(room.JoinRequest{Session: taker, Lease: 7 * time.Second, Channel: "channel", Asks: true,
				Vouch: time.Second})
			p.leave(room.LeaveRequest{Session: taker, Ticket: 1, Fence: p.fence})
		},
		"it must not wait": func(p *play) {
			p.join(room.JoinRequest{Session: taker, NoWait: true, Lease: time.Hour})
			p.join(room.JoinRequest{Session: another, NoWait: true})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"joined twice": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			p.join(room.JoinRequest{Session: taker})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"another waits": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			p.join(room.JoinRequest{Session: another, Vouch: time.Minute})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
			p.record(p.e.Stand(p.t.Context(), lockRoom, another))
			p.leave(room.LeaveRequest{Session: another, Fence: p.fence})
		},
		"another waits, and gives up": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			p.join(room.JoinRequest{Session: another, Vouch: time.Minute})
			p.leave(room.LeaveRequest{Session: another})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"another's fence, and another's session": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			p.leave(room.LeaveRequest{Session: taker, Fence: 1})
			p.leave(room.LeaveRequest{Session: another, Fence: p.fence})
			p.leave(room.LeaveRequest{Session: taker, Ticket: 2, Fence: p.fence})
		},
		"a fence that begins as another does": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence / 10})
		},
		"a repeat": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			mine := room.LeaveRequest{Session: taker, Fence: p.fence, Request: leaving}
			p.leave(mine)
			p.leave(mine)
			p.join(room.JoinRequest{Session: taker})
			p.leave(mine)
		},
		"a repeat after another took it, and after a line began": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			mine := room.LeaveRequest{Session: taker, Fence: p.fence, Request: leaving}
			_, err := p.e.Leave(p.t.Context(), lockRoom, mine)
			require.NoError(p.t, err)
			p.join(room.JoinRequest{Session: another})
			_, err = p.e.Leave(p.t.Context(), lockRoom, mine)
			require.NoError(p.t, err)
			p.join(room.JoinRequest{Session: taker, Vouch: time.Minute})
			_, err = p.e.Leave(p.t.Context(), lockRoom, mine)
			require.NoError(p.t, err)
			p.record(p.e.Stand(p.t.Context(), lockRoom, another))
		},
		"a seller of a name": func(p *play) {
			p.join(room.JoinRequest{Session: taker, Seller: "seller"})
			p.join(room.JoinRequest{Session: another, Seller: "seller"})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"it is free":         func(p *play) { p.leave(room.LeaveRequest{Session: taker, Fence: 1}) },
		"a ticket of before": func(p *play) { p.join(room.JoinRequest{Session: taker, Ticket: 1}) },
		"the lock was deleted": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			require.NoError(p.t, p.rdb.Del(p.t.Context(), key("lock")).Err())
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"another program's text": func(p *play) {
			require.NoError(p.t, p.rdb.Set(p.t.Context(), key("lock"), `{"session_id":"x"}`, 0).Err())
			p.join(room.JoinRequest{Session: taker})
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"a line was left": func(p *play) {
			require.NoError(p.t,
				p.rdb.ZAdd(p.t.Context(), key("queue"), redis.Z{Score: 1, Member: "left"}).Err())
			p.join(room.JoinRequest{Session: taker})
		},
		"it is extended": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			p.record(p.e.Prolong(p.t.Context(), lockRoom, "", taker, p.fence, time.Minute))
			p.record(p.e.Prolong(p.t.Context(), lockRoom, "", another, p.fence, time.Minute))
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
		},
		"it is paused": func(p *play) {
			p.join(room.JoinRequest{Session: taker})
			_, err := p.e.Pause(p.t.Context(), lockRoom, "", true, room.Action{})
			require.NoError(p.t, err)
			p.leave(room.LeaveRequest{Session: taker, Fence: p.fence})
			p.join(room.JoinRequest{Session: taker, NoWait: true})
		},
	}
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				sameBothWays(t, rdb, story)
			})
		}
	})
}

// sameBothWays compares a story of a lock that may be thin with the same story of one that always has a
// state.
func sameBothWays(t *testing.T, rdb redis.UniversalClient, story func(*play)) {
	play := func(e *room.Engine) string {
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		p := &play{t: t, rdb: rdb, e: e}
		story(p)
		return strings.Join(p.seen, "\n")
	}
	require.Equal(t, play(quiet(rdb).Thick()), play(quiet(rdb)))
}

func TestThinLocksAnswerAsOthersDoInEveryStory(t *testing.T) { storiesAreTheSame(t, 0, 3) }

func storiesAreTheSame(t *testing.T, from, to uint64) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		for seed := from; seed < to; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				sameBothWays(t, rdb, func(p *play) { p.atRandom(rand.New(rand.NewPCG(seed, 1)), 30) })
			})
		}
	})
}

// atRandom makes calls as two clients of a lock do.
func (p *play) atRandom(rng *rand.Rand, steps int) {
	ctx, paused := p.t.Context(), false
	for range steps {
		session := []string{taker, taker, another}[rng.IntN(3)]
		fence := []int64{p.fence, p.fence, 0, 1}[rng.IntN(4)]
		switch rng.IntN(12) {
		case 0, 1, 2, 3:
			p.join(room.JoinRequest{Session: session, NoWait: rng.IntN(3) == 0, Lease: []time.Duration{0,
				time.Minute}[rng.IntN(2)], Channel: []string{"", "channel"}[rng.IntN(2)], Vouch: time.Hour})
		case 4, 5, 6, 7:
			p.leave(room.LeaveRequest{Session: session, Fence: fence})
		case 8:
			p.record(p.e.Prolong(ctx, lockRoom, "", session, max(fence, 1), time.Minute))
		case 9:
			p.record(p.e.Stand(ctx, lockRoom, session))
		case 10:
			view, err := p.e.Seen(ctx, lockRoom, time.Hour, []string{session}, nil)
			p.record(room.Standing{View: view}, err)
		default:
			paused = !paused && rng.IntN(3) == 0
			p.record(p.e.Pause(ctx, lockRoom, "", paused, room.Action{}))
		}
	}
}

// The fence of a lock grows however often, and by whichever way, it is taken.
func TestAFenceGrowsOnBothWays(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		const ahead = 9007199254740000 // of Redis's clock, from which fences are made
		require.NoError(t, rdb.Set(t.Context(), key("fence"), ahead, time.Hour).Err())
		thin, thick := quiet(rdb), quiet(rdb).Thick()
		for n := range int64(6) {
			e := []*room.Engine{thin, thick, thin}[n%3]
			st, err := e.Join(t.Context(), lockRoom, room.JoinRequest{Fresh: true, Session: taker})
			require.NoError(t, err)
			require.Equal(t, ahead+n+1, st.Fence)
			st, err = thick.Stand(t.Context(), lockRoom, taker)
			require.NoError(t, err)
			require.Equal(t, ahead+n+1, st.Fence)
			_, err = e.Leave(t.Context(), lockRoom, room.LeaveRequest{Session: taker, Fence: st.Fence})
			require.NoError(t, err)
		}
	})
}

// Redis's clock goes back while a thin lock is held. The first waiter waits no longer than the lease lasts.
func TestAThinLockFollowsAClockThatGoesBack(t *testing.T) {
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	at := time.Now()
	store.SetTime(at)
	e := quiet(rdb)
	held, err := e.Join(t.Context(), lockRoom, room.JoinRequest{Fresh: true, Session: taker, Lease: time.Minute})
	require.NoError(t, err)
	store.SetTime(at.Add(-time.Hour))
	st, err := e.Join(t.Context(), lockRoom, room.JoinRequest{Fresh: true, Session: another, Vouch: time.Hour})
	require.NoError(t, err)
	require.Equal(t, room.Waiting, st.Status)
	require.LessOrEqual(t, st.Lease.ExpiresAt-st.Now, time.Minute.Milliseconds())
	_, err = e.Leave(t.Context(), lockRoom, room.LeaveRequest{Session: taker, Fence: held.Fence})
	require.NoError(t, err)
	st, err = e.Stand(t.Context(), lockRoom, another)
	require.NoError(t, err)
	require.Greater(t, st.Fence, held.Fence)
}

// lockModel is a lock in the words of its promises.
type lockModel struct {
	holder  string
	fence   int64 // of the holder's lease; 0 = not seen yet
	expires int64 // of the holder's lease; 0 = not seen yet
	line    []string
}

func (m *lockModel) clone() *lockModel {
	c := *m
	c.line = slices.Clone(m.line)
	return &c
}

func (m *lockModel) live(session string) bool {
	return m.holder == session || slices.Contains(m.line, session)
}

// free ends the lease and grants the lock to the first in line.
func (m *lockModel) free() {
	m.holder, m.fence, m.expires = "", 0, 0
	if len(m.line) > 0 {
		m.holder, m.line = m.line[0], m.line[1:]
	}
}

// lockRun drives two engines and the model side by side. One engine has thin locks, the other one none, so
// that a lock changes from one form to the other and back at any point.
type lockRun struct {
	store   *miniredis.Miniredis
	rdb     *redis.Client
	engines []*room.Engine
	now     time.Time
	model   *lockModel
	highest int64
	done    []room.LeaveRequest // leaves that succeeded and whose reply may have been lost
	until   time.Time           // when the first of those replies is forgotten
	saved   *lockModel
	keys    *lockKeys
}

// lockKeys are the keys of a lock as they were.
type lockKeys struct {
	text map[string]string
	ends map[string]time.Time
	hash map[string]map[string]string
	line map[string][]redis.Z
}

var lockSessions = []string{taker, another, "c0000000-0000-4000-8000-000000000003",
	"d0000000-0000-4000-8000-000000000004"}

func TestALockKeepsItsPromisesThinOrNot(t *testing.T) { locksKeepTheirPromises(t, 60) }

func locksKeepTheirPromises(t *testing.T, orders int) {
	tries(t, orders)
	store := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	start := time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		require.NoError(rt, rdb.FlushDB(context.Background()).Err())
		start = start.Add(25 * time.Hour)
		r := &lockRun{store: store, rdb: rdb, now: start, model: &lockModel{},
			engines: []*room.Engine{quiet(rdb), quiet(rdb), quiet(rdb).Thick()}}
		r.at(0)
		rt.Repeat(map[string]func(*rapid.T){
			"join": r.join, "join again": r.join, "leave": r.leave, "leave again": r.leave,
			"repeat": r.repeat, "extend": r.extend, "delete": r.delete, "pass": r.pass,
			"save": r.save, "fail over": r.failOver, "": r.agree,
		})
	})
}

func (r *lockRun) at(later time.Duration) {
	r.now = r.now.Add(later)
	r.store.SetTime(r.now)
	for m := r.model; m.expires != 0 && r.now.UnixMilli() >= m.expires; {
		m.free()
	}
}

func (r *lockRun) engine(t *rapid.T) *room.Engine {
	return r.engines[rapid.IntRange(0, len(r.engines)-1).Draw(t, "engine")]
}

func (r *lockRun) session(t *rapid.T) string {
	return rapid.SampledFrom(lockSessions).Draw(t, "session")
}

// join is also the repeat of a join whose reply was lost.
func (r *lockRun) join(t *rapid.T) {
	r.at(time.Millisecond)
	q := room.JoinRequest{Fresh: true, Session: r.session(t), NoWait: rapid.Bool().Draw(t, "no wait"),
		Lease: time.Duration(rapid.IntRange(1, 60).Draw(t, "lease")) * time.Second, Vouch: 24 * time.Hour}
	st, err := r.engine(t).Join(context.Background(), lockRoom, q)
	m := r.model
	switch {
	case m.live(q.Session):
	case m.holder == "":
		m.holder, m.fence, m.expires = q.Session, 0, 0
	case q.NoWait:
		require.ErrorIs(t, err, room.ErrLockHeld)
		return
	default:
		m.line = append(m.line, q.Session)
	}
	require.NoError(t, err)
	r.stands(t, q.Session, st)
}

func (r *lockRun) leave(t *rapid.T) {
	r.at(time.Millisecond)
	q := room.LeaveRequest{Request: room.NewSession(), Session: r.session(t), Outcome: room.Completed}
	m := r.model
	if rapid.IntRange(0, 3).Draw(t, "which") > 0 {
		q.Session = m.holder
	}
	if q.Session == "" {
		return
	}
	if fence := rapid.IntRange(0, 4).Draw(t, "fence"); fence > 1 {
		q.Fence = max(m.fence, 1)
	} else if fence == 1 {
		q.Fence = max(m.fence-1, 1)
	}
	_, err := r.engine(t).Leave(context.Background(), lockRoom, q)
	switch {
	case !m.live(q.Session):
		require.ErrorIs(t, err, room.ErrNoPlace)
		return
	case q.Fence != 0 && (m.holder != q.Session || m.fence != q.Fence):
		require.ErrorIs(t, err, room.ErrStaleFence)
		return
	}
	require.NoError(t, err)
	if m.holder == q.Session {
		m.free()
	} else {
		m.line = slices.DeleteFunc(m.line, func(s string) bool { return s == q.Session })
	}
	if len(r.done) == 0 {
		r.until = r.now.Add(4 * time.Second)
	}
	r.done = append(r.done, q)
}

// repeat sends a leave again whose reply was lost. It succeeds and changes nothing.
func (r *lockRun) repeat(t *rapid.T) {
	if !r.now.Before(r.until) {
		r.done = nil
	}
	if len(r.done) == 0 {
		return
	}
	q := rapid.SampledFrom(r.done).Draw(t, "request")
	_, err := r.engine(t).Leave(context.Background(), lockRoom, q)
	require.NoError(t, err)
}

func (r *lockRun) extend(t *rapid.T) {
	r.at(time.Millisecond)
	m, session := r.model, r.session(t)
	st, err := r.engine(t).Prolong(context.Background(), lockRoom, "", session, max(m.fence, 1), 9*time.Second)
	if m.holder != session {
		require.ErrorIs(t, err, room.ErrStaleFence)
		return
	}
	require.NoError(t, err)
	m.expires += 9000
	require.Equal(t, m.expires, st.Lease.ExpiresAt)
}

// delete ends a lease as an operator does.
func (r *lockRun) delete(t *rapid.T) {
	require.NoError(t, r.rdb.Del(context.Background(), key("lock")).Err())
	if r.model.holder != "" {
		r.model.free()
	}
}

func (r *lockRun) pass(t *rapid.T) {
	r.at(time.Duration(rapid.IntRange(1, 70_000).Draw(t, "ms")) * time.Millisecond)
}

// save remembers all keys, as a replica has them that is behind from now on.
func (r *lockRun) save(t *rapid.T) {
	ctx := context.Background()
	k := &lockKeys{text: map[string]string{}, ends: map[string]time.Time{}, hash: map[string]map[string]string{},
		line: map[string][]redis.Z{}}
	for _, name := range r.rdb.Keys(ctx, "*").Val() {
		switch r.rdb.Type(ctx, name).Val() {
		case "string":
			k.text[name] = r.rdb.Get(ctx, name).Val()
		case "hash":
			k.hash[name] = r.rdb.HGetAll(ctx, name).Val()
		default:
			k.line[name] = r.rdb.ZRangeWithScores(ctx, name, 0, -1).Val()
		}
		left := r.rdb.PTTL(ctx, name).Val()
		require.Positive(t, left, "%s is kept for ever", name)
		k.ends[name] = r.now.Add(left)
	}
	r.keys, r.saved = k, r.model.clone()
}

// failOver loses all writes since save. Without a save it loses everything.
func (r *lockRun) failOver(t *rapid.T) {
	ctx := context.Background()
	require.NoError(t, r.rdb.FlushDB(ctx).Err())
	r.done, r.model = nil, &lockModel{}
	if r.saved != nil {
		r.model = r.saved.clone()
		for name, text := range r.keys.text {
			require.NoError(t, r.rdb.Set(ctx, name, text, 0).Err())
		}
		for name, fields := range r.keys.hash {
			require.NoError(t, r.rdb.HSet(ctx, name, fields).Err())
		}
		for name, line := range r.keys.line {
			require.NoError(t, r.rdb.ZAdd(ctx, name, line...).Err())
		}
		for name, ends := range r.keys.ends {
			require.NoError(t, r.rdb.PExpire(ctx, name, max(ends.Sub(r.now), 0)).Err())
		}
	}
	r.at(time.Second) // until the replica is the master
}

// agree compares what each session sees with the model.
func (r *lockRun) agree(t *rapid.T) {
	for _, session := range lockSessions {
		st, err := r.engine(t).Stand(context.Background(), lockRoom, session)
		require.NoError(t, err)
		r.stands(t, session, st)
	}
}

func (r *lockRun) stands(t *rapid.T, session string, st room.Standing) {
	m := r.model
	require.Equal(t, m.holder != "", st.Lease != nil, "held")
	if st.Lease != nil {
		if m.fence == 0 { // a lease that is seen for the first time
			require.Greater(t, st.Lease.Fence, r.highest, "the fence only grows")
			m.fence, m.expires, r.highest = st.Lease.Fence, st.Lease.ExpiresAt, st.Lease.Fence
		}
		require.Equal(t, m.fence, st.Lease.Fence)
		require.Equal(t, m.expires, st.Lease.ExpiresAt)
	}
	switch {
	case m.holder == session:
		require.Equal(t, room.Locked, st.Status)
	case m.live(session):
		require.Equal(t, room.Waiting, st.Status)
		require.Equal(t, slices.Index(m.line, session)+1, st.Position)
	default:
		require.Equal(t, room.Idle, st.Status)
	}
}
