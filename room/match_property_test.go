package room_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/redistest"
	"github.com/waitroom/waitroom/room"
)

// Whatever leases there were and whenever a message was sent, the script attributes it as the contract does, and
// shows it to nobody but the holder of that lease. The embedded store's clock is moved by hand, so that a failure
// shrinks; Redis's goes by itself.
func TestNoMessageIsEverAttributedToAnotherLease(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		embedded := redistest.StartEmbedded(t)
		rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
		t.Cleanup(func() { require.NoError(t, rdb.Close()) })
		now := time.UnixMilli(1_800_000_000_000)
		embedded.SetTime(now)
		attributes(t, rdb, func(_ *rapid.T, ms int64) {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			embedded.SetTime(now)
		})
	})
	t.Run("redis", func(t *testing.T) {
		rdb := redistest.Start(t).Client()
		attributes(t, rdb, func(rt *rapid.T, ms int64) { passUntil(rt, rdb, storeNow(rt, rdb)+ms) })
	})
}

func attributes(t *testing.T, rdb redis.UniversalClient, pass func(*rapid.T, int64)) {
	rapid.Check(t, func(rt *rapid.T) {
		require.NoError(rt, rdb.FlushDB(context.Background()).Err())
		p := &post{rdb: rdb, engine: room.New(rdb, room.Config{Lease: 15 * time.Millisecond, Journal: 10_000}),
			shown: map[string]string{}, told: map[string]room.Match{}}
		rt.Repeat(map[string]func(*rapid.T){
			"join":    p.join,
			"leave":   p.leave,
			"pass":    func(rt *rapid.T) { pass(rt, rapid.Int64Range(1, 8).Draw(rt, "ms")) },
			"message": p.message,
			"again":   p.again,
			"":        p.look,
		})
	})
}

func storeNow(t require.TestingT, rdb redis.UniversalClient) int64 {
	now, err := rdb.Time(context.Background()).Result()
	require.NoError(t, err)
	return now.UnixMilli()
}

// post drives the engine and remembers what it said.
type post struct {
	rdb      redis.UniversalClient
	engine   *room.Engine
	sessions []string              // by ticket, from 1
	ids      []string              // of messages
	told     map[string]room.Match // by message
	shown    map[string]string     // text → session
}

func (p *post) join(t *rapid.T) {
	session := room.NewSession()
	st, err := p.engine.Join(context.Background(), integration,
		room.JoinRequest{Session: session, Seller: fmt.Sprintf("s%d", len(p.sessions)+1)})
	require.NoError(t, err)
	p.sessions = append(p.sessions, session)
	require.Equal(t, int64(len(p.sessions)), st.Ticket)
}

func (p *post) leave(t *rapid.T) {
	view, _, err := p.engine.Look(context.Background(), integration)
	require.NoError(t, err)
	if view.Lease == nil {
		return
	}
	_, err = p.engine.Leave(context.Background(), integration,
		room.LeaveRequest{Session: p.sessions[view.Lease.Ticket-1], Outcome: room.Completed, Fence: view.Lease.Fence})
	if err != nil {
		require.True(t, room.Refused(err), "it may just have expired: %v", err)
	}
}

// message sends one that was sent a while ago, or is sent now, or seems to come from the future.
func (p *post) message(t *rapid.T) {
	id := fmt.Sprintf("m%d", len(p.ids)+1)
	q := sms(id, 0, 0)
	if rapid.IntRange(0, 4).Draw(t, "has a time") > 0 {
		q.From = storeNow(t, p.rdb) - rapid.Int64Range(-5, 60).Draw(t, "ms ago")
		q.To = q.From + rapid.SampledFrom([]int64{1, 1, 10}).Draw(t, "precision")
	}
	q.Guard = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "guard")) * time.Millisecond
	q.Keep = rapid.IntRange(0, 2).Draw(t, "keep") == 0
	m, err := p.engine.Match(context.Background(), integration, q)
	require.NoError(t, err)
	want := attribute(p.leasesBefore(t, id), m.At, q)
	require.Equal(t, want, verdict{m.Result, m.Reason, m.Fence}, "message %s, sent in [%d, %d), guard %v, now %d", id, q.From, q.To, q.Guard, m.At)

	agreed := rapid.IntRange(0, 5).Draw(t, "agreed") > 0
	require.NoError(t, p.engine.SettleMatch(context.Background(), integration, id, agreed))
	switch {
	case !agreed:
		m = room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: m.Epoch, At: m.At}
	case m.Result == room.Matched:
		p.shown[q.Shown.Text] = p.sessions[m.Ticket-1]
	}
	p.ids, p.told[id] = append(p.ids, id), m
}

// again sends one that was sent before.
func (p *post) again(t *rapid.T) {
	if len(p.ids) == 0 {
		return
	}
	id := rapid.SampledFrom(p.ids).Draw(t, "message")
	m, err := p.engine.Match(context.Background(), integration, sms(id, 0, 0))
	require.NoError(t, err)
	require.Equal(t, p.told[id], m)
}

// look reads what everybody is shown.
func (p *post) look(t *rapid.T) {
	_, seats, err := p.engine.Look(context.Background(), integration, p.sessions...)
	require.NoError(t, err)
	seen := 0
	for i, seat := range seats {
		for _, message := range seat.Messages {
			seen++
			require.Equal(t, p.shown[message.Text], p.sessions[i], "%s", message.Text)
		}
	}
	require.Len(t, p.shown, seen)
}

// held is a lease as the contract speaks of it.
type held struct {
	fence, granted, end int64
	live                bool
}

// leasesBefore are the leases as they were in the step that matched the message: what it ended itself was live.
func (p *post) leasesBefore(t *rapid.T, id string) []held {
	entries, err := p.engine.ReadJournal(context.Background(), integration, 10_000)
	require.NoError(t, err)
	var leases []held
	for _, entry := range entries {
		for _, r := range entry.Records {
			switch {
			case r.Type == "granted":
				leases = append(leases, held{fence: r.Fence, granted: r.GrantedAt, end: r.ExpiresAt, live: true})
			case r.Type == "ended" && r.Fence != 0:
				last := &leases[len(leases)-1]
				require.Equal(t, last.fence, r.Fence, "leases end in the order of their grants")
				last.end, last.live = r.EndedAt, false
			case r.Type == "message" && r.MessageID == id:
				return leases
			}
		}
	}
	require.Fail(t, "the message is not in the journal")
	return nil
}

type verdict struct {
	result room.Result
	reason room.Reason
	fence  int64
}

// attribute is the contract's rule: the one lease that the widened time touches.
func attribute(leases []held, now int64, q room.MatchRequest) verdict {
	from, to := q.From, q.To
	if (from == 0 && to == 0) || from > now {
		from, to = now, now+1
	}
	from, to = from-q.Guard.Milliseconds(), to+q.Guard.Milliseconds()
	var touched []held
	for _, l := range leases {
		lasting := l.granted < to && from < l.end
		momentary := l.granted == l.end && from <= l.granted && l.granted < to
		if lasting || momentary {
			touched = append(touched, l)
		}
	}
	switch {
	case len(touched) == 0:
		return verdict{room.Unmatched, room.NoLease, 0}
	case len(touched) > 1:
		return verdict{room.Unmatched, room.Ambiguous, 0}
	case touched[0].live:
		return verdict{room.Matched, "", touched[0].fence}
	}
	return verdict{room.Late, "", touched[0].fence}
}
