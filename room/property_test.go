package room_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/room"
)

// Whatever joins, leaves, presences, pauses and deadlines come in whatever order, the scripts say what
// the contract's rules say, after every step, about the room and about everybody in it.
func TestScriptsKeepTheRulesInAnyOrderOfEvents(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		rapid.Check(t, func(rt *rapid.T) {
			require.NoError(rt, rdb.FlushDB(context.Background()).Err())
			r := newRun(rdb)
			rt.Repeat(map[string]func(*rapid.T){
				"join":  r.join,
				"leave": r.leave,
				"seen":  r.seen,
				"pause": r.pause,
				"pass":  r.pass,
				"":      r.agree,
			})
		})
	})
}

// run drives the engine and the model side by side. Its times are short, so that leases end and
// waiters go away in the midst of things.
type run struct {
	rdb      redis.UniversalClient
	engine   *room.Engine
	model    *model
	sessions []string
	lock     int64 // the highest fence so far
}

const (
	runLease = 12 * time.Millisecond
	runAway  = 5 * time.Millisecond
	runDrop  = 9 * time.Millisecond
)

func newRun(rdb redis.UniversalClient) *run {
	r := &run{rdb: rdb, model: newModel(runLease, runAway, runDrop),
		engine: room.New(rdb, room.Config{Lease: runLease, AwayAfter: runAway, DropAfter: runDrop})}
	for i := range 6 {
		r.sessions = append(r.sessions, fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i))
	}
	return r
}

func (r *run) session(t *rapid.T) string { return rapid.SampledFrom(r.sessions).Draw(t, "session") }

func (r *run) join(t *rapid.T) {
	q := room.JoinRequest{Session: r.session(t), Seller: rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "seller"),
		NoWait: rapid.IntRange(0, 4).Draw(t, "no wait") == 0}
	st, err := r.engine.Join(context.Background(), integration, q)
	var want error
	r.model.at(st.Now, func() { want = r.model.join(q.Session, q.Seller, q.NoWait, st.Now) })
	require.ErrorIs(t, err, want)
	require.Equal(t, want == nil, err == nil)
}

func (r *run) leave(t *rapid.T) {
	q := room.LeaveRequest{Session: r.session(t), Outcome: rapid.SampledFrom([]room.Outcome{room.Completed, room.Cancelled}).Draw(t, "outcome")}
	st, err := r.engine.Leave(context.Background(), integration, q)
	var want error
	r.model.at(st.Now, func() { want = r.model.leave(q.Session, q.Outcome, st.Now) })
	require.ErrorIs(t, err, want)
	require.Equal(t, want == nil, err == nil)
}

func (r *run) seen(t *rapid.T) {
	session, here := r.session(t), rapid.Bool().Draw(t, "here")
	vouch := time.Duration(rapid.IntRange(0, 4).Draw(t, "vouch")) * time.Millisecond
	var view room.View
	var err error
	if here {
		view, err = r.engine.Seen(context.Background(), integration, vouch, []string{session}, nil)
	} else {
		view, err = r.engine.Seen(context.Background(), integration, vouch, nil, []string{session})
	}
	require.NoError(t, err)
	r.model.at(view.Now, func() { r.model.seen(session, vouch.Milliseconds(), here, view.Now) })
}

func (r *run) pause(t *rapid.T) {
	paused := rapid.IntRange(0, 2).Draw(t, "paused") == 0
	st, err := r.engine.Pause(context.Background(), integration, "", paused, room.Action{})
	require.NoError(t, err)
	r.model.at(st.Now, func() { r.model.pause(paused, st.Now) })
}

// pass lets some milliseconds go by on Redis's clock.
func (r *run) pass(t *rapid.T) {
	now, err := r.rdb.Time(context.Background()).Result()
	require.NoError(t, err)
	passUntil(t, r.rdb, now.UnixMilli()+rapid.Int64Range(1, 16).Draw(t, "ms"))
}

// agree compares everything that anybody can see.
func (r *run) agree(t *rapid.T) {
	view, seats, err := r.engine.Look(context.Background(), integration, r.sessions...)
	require.NoError(t, err)
	m := r.model
	m.at(view.Now, func() { m.advance(view.Now) })
	require.Equal(t, m.version, view.Version, "version")
	require.Equal(t, len(m.line), view.Waiting, "waiting")
	require.Equal(t, m.paused, view.Paused, "paused")
	require.Equal(t, m.holder != "", view.Lease != nil, "held")
	require.InDelta(t, m.hold, float64(view.Hold)/float64(time.Millisecond), 0.01, "hold")
	if view.Lease != nil {
		require.Equal(t, m.granted, view.Lease.GrantedAt)
		require.Equal(t, m.granted+m.lease, view.Lease.ExpiresAt)
		require.GreaterOrEqual(t, view.Lease.Fence, r.lock, "the fence only grows")
		r.lock = view.Lease.Fence
	}
	for i, session := range r.sessions {
		r.agreeOn(t, session, seats[i].Place)
	}
}

func (r *run) agreeOn(t *rapid.T, session string, got room.Place) {
	p := r.model.places[session]
	switch {
	case p == nil:
		require.Equal(t, room.Idle, got.Status)
		return
	case !p.live:
		require.Equal(t, room.Ended, got.Status)
		require.Equal(t, p.outcome, got.Outcome)
	case r.model.holder == session:
		require.Equal(t, room.Locked, got.Status)
	default:
		require.Equal(t, room.Waiting, got.Status)
		require.Equal(t, slices.Index(r.model.line, session)+1, got.Position)
	}
	require.Equal(t, p.ticket, got.Ticket)
}
