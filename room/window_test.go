package room_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// heldBack is a hook that delays commands to Redis until other calls have run.
type heldBack struct {
	before func()
}

// inTurn calls one of the functions before each of the next commands.
func (h *heldBack) inTurn(list ...func()) {
	h.before = func() {
		list[0]()
		if len(list) > 1 {
			h.inTurn(list[1:]...)
		}
	}
}

func (h *heldBack) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return next(ctx, network, addr)
	}
}

func (h *heldBack) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f := h.before; f != nil {
			h.before = nil
			f()
		}
		return next(ctx, cmd)
	}
}

func (h *heldBack) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A replica reads a message without a time during one lease, and the message reaches Redis during the next
// lease.
func TestMessageThatWaitedForTheStoreIsNotTheNextLeases(t *testing.T) {
	server := redistest.Start(t)
	way := &heldBack{}
	slow := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { require.NoError(t, slow.Close()) })
	slow.AddHook(way)
	e, replica := room.New(server.Client(), room.Config{}), room.New(slow, room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	a.join()
	b.join()
	require.NoError(t, replica.Ping(t.Context())) // the replica can now estimate Redis's time
	_, err := replica.Stand(t.Context(), integration, a.session)
	require.NoError(t, err)
	match(t, replica, sms("script is loaded, room is known", 1, 2))

	read := time.Now()
	way.before = func() { // the call is on its way while the lock goes from a to b
		passUntil(t, server.Client(), storeNow(t, server.Client())+50)
		a.leave(room.Cancelled)
		passUntil(t, server.Client(), storeNow(t, server.Client())+50)
	}
	q := sms("m", 0, 0)
	q.ReadAt = replica.At(read)
	m, err := replica.Match(t.Context(), integration, q)
	require.NoError(t, err)
	requireNone(t, room.Ambiguous, m, "it was read under a's lease")
	require.Equal(t, room.Locked, b.stand().Status)

	q = sms("n", 0, 0)
	q.Age = time.Since(read) // the replica itself was slow, for example because of the ledger
	m, err = replica.Match(t.Context(), integration, q)
	require.NoError(t, err)
	requireNone(t, room.Ambiguous, m, "as old as that")
}

// Redis fails over to a master whose clock shows a time before the live lease was granted.
func TestMessageAfterRedissClockWentBackIsNotTheLeasesBefore(t *testing.T) {
	for name, asks := range map[string]bool{"asking": true, "not asking": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{})
			join := (*desk).plain
			if asks {
				join = (*desk).asker
			}
			a, b := join(d, "a"), join(d, "b")
			d.pass(10 * time.Second)
			a.leave(room.Cancelled)
			second := b.stand().Lease
			d.pass(31 * time.Second)
			if asks {
				b.expect()
			}
			d.pass(-32 * time.Second) // Redis's clock now shows a time before b's lease and its ask
			_, m := d.sms(func(q *room.MatchRequest) { q.From, q.To = 0, 0 })
			if m.Result != room.Unmatched {
				require.Equal(t, second.Fence, m.Fence, "or unmatched, but not a's")
			}
			require.NotEqual(t, room.Late, m.Result)
			_, m = d.sms(func(q *room.MatchRequest) { // by the carrier's clock, which was not set back
				q.From = second.GrantedAt + 500
				q.To = q.From + 1
			})
			require.NotEqual(t, room.Late, m.Result)
		})
	}
}

func TestCarrierAheadOfUsIsNotBelievedToTheMillisecond(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.plain("a"), d.plain("b")
	d.pass(20 * time.Second)
	a.leave(room.Completed)
	d.pass(time.Second)
	_, m := d.sms(ago(-5 * time.Second)) // sent under a's lease by a clock that is 5 s ahead
	requireNone(t, room.Ambiguous, m, "widened to the past by as much as it is ahead")
	d.pass(20 * time.Second)
	_, m = d.sms(ago(-5 * time.Second))
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, b.stand().Outcome)
}

func TestCarrierOverAMinuteAheadIsNotBelievedAtAll(t *testing.T) {
	d := newDesk(t, room.Config{})
	d.plain("a")
	d.pass(2 * time.Minute)
	b := d.plain("b")
	d.pass(10 * time.Second)
	_, m := d.sms(ago(-60 * time.Second))
	requireNone(t, room.Ambiguous, m, "a minute ahead counts as ahead")
	require.Empty(t, d.records("incident"))
	_, m = d.sms(ago(-60*time.Second - time.Millisecond))
	require.Equal(t, room.Matched, m.Result, "and any more as if it had no time")
	require.Equal(t, room.Completed, b.stand().Outcome)
	incident := d.records("incident")[0]
	require.Equal(t, "carrier_clock", incident.Action)
	require.NotEmpty(t, incident.MessageID)
}

func TestReusedIDIsAnIncidentAndTheFirstAnswerStays(t *testing.T) {
	d := newDesk(t, room.Config{})
	d.plain("a")
	d.plain("b")
	id, first := d.sms()
	first.Judge = false
	same := sms(id, d.now.UnixMilli(), d.now.UnixMilli()+1)
	require.Equal(t, first, match(t, d.engine, same))
	require.Empty(t, d.records("incident"))
	for why, change := range map[string]func(*room.MatchRequest){
		"another text":   saying("other"),
		"another sender": from("02-000-0000"),
		"another time":   ago(time.Second),
	} {
		q := same
		change(&q)
		before := len(d.records("incident"))
		require.Equal(t, first, match(t, d.engine, q), why)
		incidents := d.records("incident")
		require.Len(t, incidents, before+1, why)
		require.Equal(t, "message_id_reused", incidents[before].Action)
		require.Equal(t, id, incidents[before].MessageID)
	}
	d.pass(24*time.Hour + time.Millisecond)
	c := d.asker("c")
	c.expect()
	again := sms(id, d.now.UnixMilli(), d.now.UnixMilli()+1)
	again.Shown.Text = "other"
	require.Equal(t, c.stand().Fence, match(t, d.engine, again).Fence,
		"a day later it is a message of its own")
}

// No session has a socket in the room, so no replica gets its events. The engine remembers what its own
// replies had.
func TestRoomThatOnlyTheAPIUsesNoticesAStoreThatWentBack(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 20 * time.Second})
	a, b := d.asker("a"), d.asker("b")
	before := a.stand()
	state, err := d.rdb.HGetAll(d.Context(), "{integration}:state").Result()
	require.NoError(t, err)
	a.leave(room.Cancelled) // Redis loses this handoff
	require.Equal(t, room.Locked, b.stand().Status)
	require.NoError(t, d.rdb.HSet(d.Context(), "{integration}:state", state).Err())
	d.pass(time.Second)

	_, m := d.sms()
	require.NotEqual(t, before.Fence, m.Fence, "not the lease's that was over")
	require.Equal(t, room.Unmatched, m.Result)
	after, _, err := d.engine.Look(d.Context(), integration)
	require.NoError(t, err)
	require.Greater(t, after.Epoch, before.Epoch)

	c := d.asker("c")
	require.Equal(t, room.Waiting, c.stand().Status, "the observed lease has not ended")
	const cutOff = 2 * time.Millisecond // lost by rounding two clocks' times down to ms
	d.pass(20*time.Second + cutOff)
	require.Equal(t, room.Locked, c.stand().Status)
	// The process's clock, which is real here, tells when the lost lease would have ended.
	require.InDelta(t, d.now.UnixMilli()+30_000, c.busy(), 8_000, "asks may be lost as well")
	c.leave(room.Cancelled)
	d.pass(15 * time.Second)
	plain := d.plain("d")
	d.pass(5 * time.Second)
	_, m = d.sms()
	requireNone(t, room.Ambiguous, m, "it may be the answer to an ask that was lost")
	d.pass(11 * time.Second)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, plain.stand().Outcome)
}

func TestRoomThatWasNeverUsedHasLostNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	_, m := d.sms()
	requireNone(t, room.NoLease, m, "")
	d.asker("a").expect()
	require.Zero(t, d.records("epoch")[0].Ticket)
	require.Len(t, d.records("epoch"), 1)
}

// Go compares the filters of asks, since Redis does not have the text in plain. A match takes a second round
// trip only for filters that Go has not seen.
func TestMatchIsOneRoundTripAndTwoWhereAsksChangedMeanwhile(t *testing.T) {
	l := newLine(t, 8)
	other := redis.NewClient(&redis.Options{Addr: l.rdb.Options().Addr})
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	elsewhere := room.New(other, room.Config{Keys: l.keys})
	trips := func(f func()) int64 {
		before := l.trips.Load()
		f()
		return l.trips.Load() - before
	}
	expect := func(e *room.Engine, f room.Filter) {
		st, err := l.engine.Stand(t.Context(), integration, l.people[0])
		require.NoError(t, err)
		_, err = e.Expect(t.Context(), integration,
			room.ExpectRequest{Session: l.people[0], Fence: st.Fence, Filter: f})
		require.NoError(t, err)
		passUntil(t, l.rdb, storeNow(t, l.rdb)+2)
	}
	send := func(id string) func() {
		return func() {
			m := match(t, l.engine, sms(id, 0, 0))
			require.Equal(t, room.Matched, m.Result)
			require.True(t, m.Completes)
		}
	}
	ours := room.Filter{From: []string{"1588-1234"}}
	expect(l.engine, room.Filter{})
	send("the script is loaded")()
	l.next(t)
	expect(l.engine, room.Filter{})
	require.EqualValues(t, 1, trips(send("an ask for any message")))
	l.next(t)
	expect(elsewhere, room.Filter{})
	require.EqualValues(t, 1, trips(send("made by another replica")))
	l.next(t)
	expect(l.engine, ours)
	require.EqualValues(t, 1, trips(send("for some messages, made by this replica")))
	l.next(t)
	expect(elsewhere, ours)
	require.EqualValues(t, 2, trips(send("for some messages, made by another")))
}

// The arguments of a script can be read in Redis's slow log, MONITOR, files and replicas.
func TestNothingOfATextIsReadableInTheStore(t *testing.T) {
	server := redistest.Start(t)
	rdb := server.Client()
	require.NoError(t, rdb.ConfigSet(t.Context(), "slowlog-log-slower-than", "0").Err())
	old, current := []byte("the secret before"), []byte("the secret now")
	e := room.New(rdb, room.Config{Journal: 100, Keys: seal.NewKeyring(old)})
	a := newSeller(t, e, "a")
	a.join()
	q := sms("m", 0, 0)
	q.Keep, q.Shown = true, room.Message{Text: "인증번호 80264173 canary", Code: new("80264173")}
	match(t, e, q)
	require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
	require.Equal(t, []string{q.Shown.Text}, texts(messages(t, e, a.session)))

	var all strings.Builder
	slow, err := rdb.SlowLogGet(t.Context(), -1).Result()
	require.NoError(t, err)
	require.NotEmpty(t, slow)
	for _, entry := range slow {
		all.WriteString(strings.Join(entry.Args, " "))
	}
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		all.WriteString(key)
		dump, err := rdb.Dump(t.Context(), key).Result()
		require.NoError(t, err)
		all.WriteString(dump)
	}
	for _, secret := range []string{"80264173", "canary", "인증번호", "1588-1234", "15881234"} {
		require.NotContains(t, all.String(), secret)
	}

	rotated := room.New(rdb, room.Config{Keys: seal.NewKeyring(current, old)})
	require.Equal(t, []string{q.Shown.Text}, texts(messages(t, rotated, a.session)),
		"a secret that was replaced still opens what is there")
	hidden := messages(t, room.New(rdb, room.Config{Keys: seal.NewKeyring(current)}), a.session)
	require.Len(t, hidden, 1)
	require.True(t, hidden[0].Unreadable && hidden[0].Text == "", "a replica without the secret cannot show it")
	again := match(t, rotated, q)
	require.Equal(t, room.Matched, again.Result)
	require.Zero(t, journalled(t, e, "incident"), "another key is not another text")
}
