package room_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// For all leases, asks and times of messages, the script's match equals the match of the model in
// match_model_test.go. Only the lease's holder sees the message. The embedded Redis's clock is moved by hand,
// so that a failure shrinks. A real Redis has its own clock.
func TestNoMessageIsEverAttributedToAnotherLease(t *testing.T) { neverAttributed(t, 25) }

func neverAttributed(t *testing.T, orders int) {
	tries(t, orders)
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
	onRedis(t, func(t *testing.T, rdb redis.UniversalClient) {
		attributes(t, rdb, func(rt *rapid.T, ms int64) { passUntil(rt, rdb, storeNow(rt, rdb)+ms) })
	})
}

const quarantine = 12 // ms

func attributes(t *testing.T, rdb redis.UniversalClient, pass func(*rapid.T, int64)) {
	rapid.Check(t, func(rt *rapid.T) {
		require.NoError(rt, rdb.FlushDB(context.Background()).Err())
		p := &post{rdb: rdb, world: world{firsts: map[string]*sent{}, stamped: map[string]*sent{},
			codes: map[string]*sent{}}, shown: map[string]string{},
			answers: map[string]room.Match{}, engine: room.New(rdb, room.Config{
				Lease: 15 * time.Millisecond, Recovery: -1, Journal: 10_000,
				Quarantine: quarantine * time.Millisecond})}
		rt.Repeat(map[string]func(*rapid.T){
			"join":    p.join,
			"leave":   p.leave,
			"expect":  p.expect,
			"pass":    func(rt *rapid.T) { pass(rt, rapid.Int64Range(1, 8).Draw(rt, "ms")) },
			"message": p.message,
			"resend":  p.resend,
			"again":   p.again,
			"reject":  p.reject,
			"":        p.look,
		})
	})
}

func storeNow(t require.TestingT, rdb redis.UniversalClient) int64 {
	now, err := rdb.Time(context.Background()).Result()
	require.NoError(t, err)
	return now.UnixMilli()
}

// post makes random calls of the engine and keeps its answers, for comparison with the model.
type post struct {
	rdb      redis.UniversalClient
	engine   *room.Engine
	sessions []string              // by ticket, from 1
	asking   []bool                // by ticket, from 1: whether the session announces asks
	ids      []string              // of messages
	answers  map[string]room.Match // by message id
	shown    map[string]string     // message id → the session that sees the message
	world    world
}

func (p *post) join(t *rapid.T) {
	session, asks := room.NewSession(), rapid.Bool().Draw(t, "asks")
	st, err := p.engine.Join(context.Background(), integration,
		room.JoinRequest{Session: session, Seller: fmt.Sprintf("s%d", len(p.sessions)+1), Asks: asks})
	require.NoError(t, err)
	p.sessions, p.asking = append(p.sessions, session), append(p.asking, asks)
	require.Equal(t, int64(len(p.sessions)), st.Ticket)
	p.sync(t, "")
}

func (p *post) view(t *rapid.T) room.View {
	view, _, err := p.engine.Look(context.Background(), integration)
	require.NoError(t, err)
	p.sync(t, "")
	return view
}

func (p *post) leave(t *rapid.T) {
	view := p.view(t)
	if view.Lease == nil {
		return
	}
	_, err := p.engine.Leave(context.Background(), integration,
		room.LeaveRequest{Session: p.sessions[view.Lease.Ticket-1], Outcome: room.Completed,
			Fence: view.Lease.Fence})
	if err != nil {
		require.True(t, room.Refused(err), "it may just have expired: %v", err)
	}
	p.sync(t, "")
}

// expect has the holder ask, sometimes only for one sender's messages.
func (p *post) expect(t *rapid.T) {
	view := p.view(t)
	if view.Lease == nil {
		return
	}
	filter := rapid.SampledFrom([]room.Filter{{}, {}, {From: []string{"1588-1234"}},
		{From: []string{"02-555-0000"}}}).Draw(t, "filter")
	x, err := p.engine.Expect(context.Background(), integration,
		room.ExpectRequest{Session: p.sessions[view.Lease.Ticket-1],
			Fence: view.Lease.Fence, Filter: filter})
	p.sync(t, "")
	lease := p.world.byFence(view.Lease.Fence)
	switch {
	case err == nil:
		lease.asking = true
		lease.asks = append(lease.asks, ask{at: p.world.lastAsked, from: filter.From})
		busy := p.world.busyUntil(lease)
		require.LessOrEqual(t, busy, p.world.lastAsked, "another's code may still come")
		require.Equal(t, lease.open(), x.Open)
		require.Equal(t, len(lease.asks), x.Asked)
	case x.AskAfter != 0:
		require.ErrorIs(t, err, room.ErrNumberBusy)
		lease.asking = true
		require.Equal(t, p.world.busyUntil(lease), x.AskAfter)
		require.Greater(t, x.AskAfter, x.Now)
	default:
		require.True(t, room.Refused(err), "it may just have expired: %v", err)
	}
}

var senders = []string{"1588-1234", "02-555-0000"}

// message sends a message with a time now, a while ago, or in the future.
func (p *post) message(t *rapid.T) {
	id := fmt.Sprintf("m%d", len(p.ids)+1)
	q := sms(id, 0, 0)
	if rapid.IntRange(0, 4).Draw(t, "has a time") > 0 {
		q.From = storeNow(t, p.rdb) - rapid.Int64Range(-5, 60).Draw(t, "ms ago")
		q.To = q.From + rapid.SampledFrom([]int64{1, 1, 10}).Draw(t, "precision")
	}
	p.send(t, q)
}

// resend sends the text of another message again, with an id of its own.
func (p *post) resend(t *rapid.T) {
	if len(p.ids) == 0 {
		return
	}
	of := rapid.SampledFrom(p.ids).Draw(t, "message")
	q := sms(fmt.Sprintf("m%d", len(p.ids)+1), 0, 0)
	q.From = storeNow(t, p.rdb) - rapid.Int64Range(0, 1).Draw(t, "ms ago")
	q.To = q.From + 1
	q.Shown = sms(of, 0, 0).Shown
	p.send(t, q)
}

func (p *post) send(t *rapid.T, q room.MatchRequest) {
	id := q.MessageID
	q.Sender = rapid.SampledFrom(senders).Draw(t, "sender")
	if rapid.IntRange(0, 3).Draw(t, "code") == 0 {
		q.Shown.Code = nil
	}
	q.Guard = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "guard")) * time.Millisecond
	q.Keep = rapid.IntRange(0, 2).Draw(t, "keep") == 0
	read := time.Now()
	m, err := p.engine.Match(context.Background(), integration, q)
	took := time.Since(read)
	require.NoError(t, err)
	p.sync(t, id)
	why := fmt.Sprintf("message %s, sent in [%d, %d), guard %v, now %d; %s", id, q.From, q.To, q.Guard, m.At,
		&p.world)
	got := verdict{m.Result, m.Reason, m.Fence, m.Duplicate}
	agreed := rapid.IntRange(0, 5).Draw(t, "agreed") > 0
	fits := p.world.take(q, m.At, p.earliest(t, id), took, got)
	require.True(t, fits, "%s: %+v", why, got)
	last := p.world.messages[len(p.world.messages)-1]
	require.Equal(t, last.ends, m.Completes, why)
	if m.Judge {
		require.NoError(t, p.engine.SettleMatch(context.Background(), integration, id, 0, agreed))
		m.Judge = false
		if !agreed {
			m = room.Match{Result: room.Unmatched, Reason: room.Ambiguous, Epoch: m.Epoch, At: m.At,
				Duplicate: m.Duplicate}
			last.refuse()
		}
	}
	if last.bound != nil && !last.repeats {
		p.shown[id] = p.sessions[last.bound.ticket-1]
	}
	p.ids, p.answers[id] = append(p.ids, id), m
	p.sync(t, "")
}

// earliest returns when the engine takes a message to be sent at the earliest.
func (p *post) earliest(t *rapid.T, id string) int64 {
	sum := sha256.Sum256([]byte(id))
	key := "{" + string(integration) + "}:sms:" + hex.EncodeToString(sum[:16])
	at, err := p.rdb.HGet(context.Background(), key, "from").Int64()
	require.NoError(t, err)
	return at
}

// again repeats an earlier message.
func (p *post) again(t *rapid.T) {
	if len(p.ids) == 0 {
		return
	}
	id := rapid.SampledFrom(p.ids).Draw(t, "message")
	m, err := p.engine.Match(context.Background(), integration, sms(id, 0, 0))
	require.NoError(t, err)
	require.Equal(t, p.answers[id], m)
}

// reject rejects a message that a session sees.
func (p *post) reject(t *rapid.T) {
	var shown []*sent
	for _, m := range p.world.messages {
		if m.bound != nil && !m.repeats {
			shown = append(shown, m)
		}
	}
	if len(shown) == 0 {
		return
	}
	m := rapid.SampledFrom(shown).Draw(t, "message")
	err := p.engine.Reject(context.Background(), integration, p.sessions[m.bound.ticket-1], m.bound.fence,
		m.id)
	p.sync(t, "")
	if m.bound.rejects == 3 {
		require.ErrorIs(t, err, room.ErrTooManyRejects)
		return
	}
	require.NoError(t, err)
	m.bound.rejects++
	m.rejected = append(m.rejected, m.bound)
	m.takeBack()
	delete(p.shown, m.id)
}

// look reads the messages of all sessions. In this test each session has one lease at most, so Look returns
// all its messages.
func (p *post) look(t *rapid.T) {
	_, seats, err := p.engine.Look(context.Background(), integration, p.sessions...)
	require.NoError(t, err)
	p.sync(t, "")
	seen := map[string]string{}
	for i, seat := range seats {
		for _, message := range seat.Messages {
			seen[message.MessageID] = p.sessions[i]
		}
	}
	require.Equal(t, p.shown, seen)
}

// sync applies the journal to the model's leases. With a message, it stops before the message's effect.
func (p *post) sync(t *rapid.T, message string) {
	entries, err := p.engine.ReadJournal(context.Background(), integration, 10_000)
	require.NoError(t, err)
	w := &p.world
	n := 0
	for _, entry := range entries {
		for _, r := range entry.Records {
			n++
			if n <= w.read {
				continue
			}
			if r.Type == "message" && r.MessageID == message {
				return
			}
			w.read = n
			switch {
			case r.Type == "granted":
				w.leases = append(w.leases, &held{ticket: r.Ticket, fence: r.Fence, granted: r.GrantedAt,
					end: r.ExpiresAt, live: true, asking: p.asking[r.Ticket-1]})
			case r.Type == "extended":
				w.byFence(r.Fence).end = r.ExpiresAt
			case r.Type == "asked":
				w.lastAsked = r.At
			case r.Type == "ended" && r.Fence != 0:
				last := w.leases[len(w.leases)-1]
				require.Equal(t, last.fence, r.Fence, "leases end in the order of their grants")
				last.end, last.live = r.EndedAt, false
			}
		}
	}
	require.Empty(t, message, "the message is not in the journal")
}
