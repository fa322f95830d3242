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

// For all orders of joins, leaves, presence, deadlines and support's actions, the scripts follow the
// contract's rules. After every step the test compares the scripts' room and sessions with the model's. Some
// runs require that leases are claimed.
func TestScriptsKeepTheRulesInAnyOrderOfEvents(t *testing.T) { keepTheRules(t, 25) }

func keepTheRules(t *testing.T, orders int) {
	tries(t, orders)
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		rapid.Check(t, func(rt *rapid.T) {
			require.NoError(rt, rdb.FlushDB(context.Background()).Err())
			r := newRun(rdb, rapid.SampledFrom([]time.Duration{0, runClaim}).Draw(rt, "claim within"))
			rt.Repeat(map[string]func(*rapid.T){
				"join":    r.join,
				"leave":   r.leave,
				"seen":    r.seen,
				"come":    r.come,
				"go":      r.gone,
				"pause":   r.pause,
				"release": r.release,
				"extend":  r.extend,
				"remove":  r.remove,
				"move":    r.move,
				"restore": r.restore,
				"claim":   r.claim,
				"pass":    r.pass,
				"":        r.agree,
			})
		})
	})
}

// run drives the engine and the model side by side. Its times are short, so that leases end and waiters
// become away in between.
type run struct {
	rdb      redis.UniversalClient
	engine   *room.Engine
	model    *model
	sessions []string
	fences   []int64 // all fences in replies, and 1, which no lease had
	calls    int64
}

func (r *run) number() int64 {
	r.calls++
	return r.calls
}

const (
	runLease = 12 * time.Millisecond
	runAway  = 5 * time.Millisecond
	runDrop  = 9 * time.Millisecond
	runClaim = 4 * time.Millisecond
)

func newRun(rdb redis.UniversalClient, claimWithin time.Duration) *run {
	r := &run{rdb: rdb, fences: []int64{1}, model: newModel(runLease, runAway, runDrop),
		engine: room.New(rdb, room.Config{Lease: runLease, AwayAfter: runAway, DropAfter: runDrop,
			ClaimWithin: claimWithin})}
	r.model.claimWithin = claimWithin.Milliseconds()
	for i := range 6 {
		r.sessions = append(r.sessions, fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i))
	}
	return r
}

// session returns one of the sessions, often one that did not claim its lease, since few did not.
func (r *run) session(t *rapid.T) string {
	missed := slices.DeleteFunc(slices.Clone(r.sessions), func(s string) bool {
		return r.model.places[s] == nil || !r.model.places[s].unclaimed
	})
	if len(missed) > 0 && rapid.Bool().Draw(t, "missed") {
		return rapid.SampledFrom(missed).Draw(t, "session")
	}
	return rapid.SampledFrom(r.sessions).Draw(t, "session")
}

func (r *run) join(t *rapid.T) {
	q := room.JoinRequest{Session: r.session(t),
		Seller: rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "seller"),
		NoWait: rapid.IntRange(0, 4).Draw(t, "no wait") == 0}
	st, err := r.engine.Join(context.Background(), integration, q)
	r.refused(t, st, err, func() error { return r.model.join(q.Session, q.Seller, q.NoWait, st.Now) })
}

func (r *run) leave(t *rapid.T) {
	q := room.LeaveRequest{Session: r.session(t),
		Outcome: rapid.SampledFrom([]room.Outcome{room.Completed, room.Cancelled}).Draw(t, "outcome")}
	st, err := r.engine.Leave(context.Background(), integration, q)
	r.refused(t, st, err, func() error { return r.model.leave(q.Session, q.Outcome, st.Now) })
}

func (r *run) claim(t *rapid.T) {
	q := room.ClaimRequest{Session: r.session(t)}
	if rapid.Bool().Draw(t, "with a fence") {
		q.Fence = r.fence(t)
	}
	st, err := r.engine.ClaimTurn(context.Background(), integration, q)
	r.refused(t, st, err, func() error { return r.model.claim(q.Session, q.Fence, st.Now) })
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

func (r *run) replica(t *rapid.T) room.ReplicaNumber {
	return room.ReplicaNumber(rapid.IntRange(1, 3).Draw(t, "replica"))
}

func (r *run) come(t *rapid.T) {
	session, replica := r.session(t), r.replica(t)
	view, err := r.engine.Presence(context.Background(), integration, replica, r.number(), []string{session},
		nil)
	require.NoError(t, err)
	if view.Epoch > 0 {
		r.model.at(view.Now, func() { r.model.come(session, replica, view.Now) })
	}
}

func (r *run) gone(t *rapid.T) {
	session, replica, ms := r.session(t), r.replica(t), rapid.IntRange(0, 7).Draw(t, "gone for")
	view, err := r.engine.Presence(context.Background(), integration, replica, r.number(), nil,
		[]room.Gone{{Session: session, Replica: replica, For: time.Duration(ms) * time.Millisecond}})
	require.NoError(t, err)
	r.model.at(view.Now, func() { r.model.goes(session, replica, view.Now-int64(ms), view.Now) })
}

func (r *run) pause(t *rapid.T) {
	paused := rapid.IntRange(0, 2).Draw(t, "paused") == 0
	st, err := r.engine.Pause(context.Background(), integration, "", paused, room.Action{})
	require.NoError(t, err)
	r.model.at(st.Now, func() { r.model.pause(paused, st.Now) })
}

func (r *run) release(t *rapid.T) {
	fence := r.fence(t)
	st, err := r.engine.Release(context.Background(), integration, "", fence, byKim)
	r.refused(t, st, err, func() error { return r.model.release(fence, st.Now) })
}

func (r *run) extend(t *rapid.T) {
	fence := r.fence(t)
	more := time.Duration(rapid.SampledFrom([]int{1, 7, 20, 600_000}).Draw(t, "more")) * time.Millisecond
	st, err := r.engine.Extend(context.Background(), integration, "", fence, more, byKim)
	r.refused(t, st, err, func() error { return r.model.extend(fence, more.Milliseconds(), st.Now) })
}

func (r *run) remove(t *rapid.T) {
	ticket := r.ticket(t)
	st, err := r.engine.Remove(context.Background(), integration, "", ticket, byKim)
	r.refused(t, st, err, func() error { return r.model.remove(ticket, st.Now) })
}

func (r *run) move(t *rapid.T) {
	ticket, position := r.ticket(t), rapid.IntRange(1, 7).Draw(t, "position")
	st, err := r.engine.Move(context.Background(), integration, "", ticket, position, byKim)
	r.refused(t, st, err, func() error { return r.model.move(ticket, position, st.Now) })
}

func (r *run) restore(t *rapid.T) {
	ticket := r.ticket(t)
	st, err := r.engine.Restore(context.Background(), integration, "", ticket, byKim)
	r.refused(t, st, err, func() error { return r.model.restore(ticket, st.Now) })
}

// fence returns a fence for a call: mostly the latest one, sometimes an earlier one.
func (r *run) fence(t *rapid.T) int64 {
	if rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
		return rapid.SampledFrom(r.fences).Draw(t, "fence")
	}
	return r.fences[len(r.fences)-1]
}

// ticket returns a ticket for a call: one of the last ones, or the next that will be given.
func (r *run) ticket(t *rapid.T) int64 {
	return max(r.model.tickets+1-rapid.Int64Range(0, int64(len(r.sessions))).Draw(t, "ticket"), 1)
}

// refused runs a verb in the model, and compares its error with that of the engine.
func (r *run) refused(t *rapid.T, st room.Standing, err error, verb func() error) {
	var want error
	r.model.at(st.Now, func() { want = verb() })
	require.ErrorIs(t, err, want)
	require.Equal(t, want == nil, err == nil)
}

// pass lets some milliseconds go by on Redis's clock.
func (r *run) pass(t *rapid.T) {
	now, err := r.rdb.Time(context.Background()).Result()
	require.NoError(t, err)
	passUntil(t, r.rdb, now.UnixMilli()+rapid.Int64Range(1, 16).Draw(t, "ms"))
}

// agree compares all that any session can see with the model.
func (r *run) agree(t *rapid.T) {
	view, seats, err := r.engine.Look(context.Background(), integration, r.sessions...)
	require.NoError(t, err)
	m := r.model
	m.at(view.Now, func() { m.advance(view.Now) })
	require.Equal(t, m.version, view.Version, "version")
	require.Equal(t, len(m.line), view.Waiting, "waiting")
	require.Equal(t, m.paused, view.Paused, "paused")
	require.Equal(t, m.holder != "", view.Lease != nil, "held")
	m.past.requireIn(t, view)
	if view.Lease != nil {
		require.Equal(t, m.granted, view.Lease.GrantedAt)
		require.Equal(t, m.expires, view.Lease.ExpiresAt)
		require.Equal(t, m.claimBy, view.Lease.ClaimBy)
		r.grown(t, view.Lease.Fence)
	}
	for i, session := range r.sessions {
		r.agreeOn(t, session, seats[i].Place)
	}
}

// grown checks the live lease's fence: a new lease's is above all earlier ones, and a known lease's is as
// before.
func (r *run) grown(t *rapid.T, fence int64) {
	if r.model.fence == 0 {
		require.Greater(t, fence, r.fences[len(r.fences)-1], "the fence only grows")
		r.model.fence, r.fences = fence, append(r.fences, fence)
	}
	require.Equal(t, r.model.fence, fence)
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
		require.Equal(t, p.unclaimed, got.Unclaimed)
	}
	require.Equal(t, p.ticket, got.Ticket)
}
