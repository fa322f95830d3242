package room_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// sms returns a message with a code, sent within [from, to). Its text contains its id.
// sms returns a message with a text and a code of its own.
func sms(id string, from, to int64) room.MatchRequest {
	code := fmt.Sprintf("%06d", crc32.ChecksumIEEE([]byte(id))%1_000_000)
	return room.MatchRequest{MessageID: id, From: from, To: to, Sender: "1588-1234",
		Shown: room.Message{Text: "text of " + id, Code: &code},
		Note:  room.MessageNote{MessageID: id, Text: "****"}}
}

func texts(messages []room.Message) (list []string) {
	for _, m := range messages {
		list = append(list, m.Text)
	}
	return list
}

func match(t *testing.T, e *room.Engine, q room.MatchRequest) room.Match {
	t.Helper()
	m, err := e.Match(t.Context(), integration, q)
	require.NoError(t, err)
	return m
}

// probe returns the match of a message that was sent within [from, to). It ends no lease.
func probe(t *testing.T, e *room.Engine, from, to int64, guard time.Duration) room.Match {
	t.Helper()
	q := sms(room.NewSession(), from, to)
	q.Keep, q.Guard = true, guard
	return match(t, e, q)
}

// probeNow returns the match of a message without a time, which was sent at most its age ago. It sends
// further messages until one was matched within `soon`, since a slower one may be an earlier lease's.
func probeNow(t *testing.T, e *room.Engine, soon time.Duration) room.Match {
	t.Helper()
	for {
		q := sms(room.NewSession(), 0, 0)
		without(&q)
		read := time.Now()
		if m := match(t, e, q); time.Since(read) < soon {
			return m
		}
	}
}

func requireLease(t *testing.T, want room.Result, lease *room.Lease, got room.Match, why string) {
	t.Helper()
	require.Equal(t, want, got.Result, why)
	require.Equal(t, lease.Ticket, got.Ticket, why)
	require.Equal(t, lease.Fence, got.Fence, why)
	require.Equal(t, lease.GrantedAt, got.Granted, why)
	require.Empty(t, got.Reason, why)
}

func requireNone(t *testing.T, want room.Reason, got room.Match, why string) {
	t.Helper()
	require.Equal(t, room.Unmatched, got.Result, why)
	require.Equal(t, want, got.Reason, why)
	require.Zero(t, got.Ticket, why)
	require.Zero(t, got.Fence, why)
}

func TestMessageWithinTheCurrentLeaseEndsItAndGrantsTheNextInOneStep(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b, c := newSeller(t, e, "a"), newSeller(t, e, "b"), newSeller(t, e, "c")
		first := a.join()
		b.join()
		before := c.join()
		m := match(t, e, sms("m", first.Lease.GrantedAt, first.Lease.GrantedAt+1))
		requireLease(t, room.Matched, first.Lease, m, "the current lease")
		require.Equal(t, m.At, m.Ended)

		over, next := a.stand(), b.stand()
		require.Equal(t, room.Completed, over.Outcome)
		require.Equal(t, room.Locked, next.Status)
		require.Equal(t, m.At, next.Lease.GrantedAt)
		require.Greater(t, next.Fence, m.Fence)
		require.Equal(t, before.Version+1, next.Version, "a handoff is one change")

		entries, err := e.ReadJournal(t.Context(), integration, 100)
		require.NoError(t, err)
		last := entries[len(entries)-1].Records
		require.Equal(t, []string{"message", "ended", "granted"},
			[]string{last[0].Type, last[1].Type, last[2].Type})
		require.Equal(t, m.Fence, last[0].Fence)
		require.Equal(t, "a", last[0].Seller)
		require.Equal(t, "m", last[0].MessageID)
		require.True(t, last[0].Completes)
		require.Equal(t, room.Completed, last[1].Outcome)
		require.Equal(t, next.Fence, last[2].Fence)
	})
}

// counter counts the commands to Redis.
type counter struct {
	redis.Hook
	commands []string
}

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.commands = append(c.commands, cmd.Name())
		return next(ctx, cmd)
	}
}

func TestMatchAndHandoffAreOneRoundTrip(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		probe(t, e, 0, 0, 0) // loads the script, and puts the room into the index
		first := a.join()
		b.join()
		seen := &counter{}
		rdb.AddHook(seen)
		m := match(t, e, sms("m", 0, 0))
		require.Len(t, seen.commands, 1)
		require.Contains(t, []string{"evalsha", "fcall"}, seen.commands[0])
		requireLease(t, room.Matched, first.Lease, m, "no time given: now")
		require.Equal(t, room.Locked, b.stand().Status)
	})
}

func TestLateMessageBelongsToTheEarlierLeaseAndChangesNoLease(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join()
		b.join()
		passUntil(t, rdb, first.Lease.GrantedAt+3)
		a.leave(room.Cancelled)
		before := b.stand()
		m := match(t, e, sms("m", first.Lease.GrantedAt, first.Lease.GrantedAt+1))
		requireLease(t, room.Late, first.Lease, m, "an earlier lease")
		require.Equal(t, before.Lease.GrantedAt, m.Ended)
		after := b.stand()
		require.Equal(t, before.Lease.Fence, after.Lease.Fence)
		require.Equal(t, before.Lease.ExpiresAt, after.Lease.ExpiresAt)
		require.Positive(t, before.Lease.AskAfter)
		require.Zero(t, after.Lease.AskAfter, "what might still have come has come")
		require.Equal(t, before.Version+1, after.Version)
		require.Equal(t, room.Cancelled, a.stand().Outcome, "its outcome stays")
	})
}

func TestLeaseIsTheHalfOpenTimeFromItsGrantToItsEnd(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join().Lease
		b.join()
		passUntil(t, rdb, first.GrantedAt+10)
		a.leave(room.Completed)
		second := b.stand().Lease
		handoff := second.GrantedAt
		passUntil(t, rdb, handoff+10)

		requireNone(t, room.NoLease, probe(t, e, first.GrantedAt-1, first.GrantedAt, 0),
			"the millisecond before the grant")
		requireLease(t, room.Late, first, probe(t, e, first.GrantedAt, first.GrantedAt+1, 0),
			"the grant's millisecond")
		requireLease(t, room.Late, first, probe(t, e, handoff-1, handoff, 0),
			"the last millisecond before the end")
		requireLease(t, room.Matched, second, probe(t, e, handoff, handoff+1, 0),
			"the end is the next lease's")
		requireNone(t, room.Ambiguous, probe(t, e, handoff-1, handoff+1, 0), "either side of the handoff")

		requireLease(t, room.Late, first, probe(t, e, handoff-1000, handoff, 0),
			"a whole second up to the handoff")
		requireLease(t, room.Matched, second, probe(t, e, handoff, handoff+1000, 0),
			"a whole second from the handoff")
		requireNone(t, room.Ambiguous, probe(t, e, handoff-500, handoff+500, 0),
			"a whole second around the handoff")
		requireLease(t, room.Late, first, probe(t, e, first.GrantedAt-999, first.GrantedAt+1, 0),
			"a whole second into the grant")

		requireLease(t, room.Late, first, probe(t, e, handoff-6, handoff-5, 5*time.Millisecond),
			"a guard that just reaches the handoff")
		requireNone(t, room.Ambiguous, probe(t, e, handoff-5, handoff-4, 5*time.Millisecond),
			"a guard over the handoff")
		requireLease(t, room.Matched, second, probe(t, e, handoff+5, handoff+6, 5*time.Millisecond),
			"a guard back to the handoff")
		requireNone(t, room.Ambiguous, probe(t, e, handoff+4, handoff+5, 5*time.Millisecond),
			"a guard back over the handoff")
		requireLease(t, room.Late, first,
			probe(t, e, first.GrantedAt-3, first.GrantedAt-2, 3*time.Millisecond), "a guard into the grant")
		requireNone(t, room.NoLease, probe(t, e, first.GrantedAt-4, first.GrantedAt-3, 3*time.Millisecond),
			"a guard short of the grant")
		requireNone(t, room.Ambiguous, probe(t, e, 0, 0, time.Minute), "now, with a guard over both")
	})
}

func TestAheadOfRedisCountsAsNow(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join().Lease
		b.join()
		ahead := storeNow(t, rdb) + 50_000
		requireLease(t, room.Matched, first, probe(t, e, ahead, ahead+1, 0), "ahead")
		requireLease(t, room.Matched, first, probe(t, e, ahead, ahead+1000, 0), "a whole second ahead")
		passUntil(t, rdb, first.GrantedAt+4)
		a.leave(room.Completed)
		second := b.stand().Lease
		passUntil(t, rdb, second.GrantedAt+20)
		requireNone(t, room.Ambiguous, probe(t, e, ahead, ahead+1, 0), "it is widened to the past by as much")
		now := storeNow(t, rdb)
		requireLease(t, room.Matched, second, probe(t, e, now+1, now+2, 0), "hardly ahead")
	})
}

func TestTheBeginningOfUnixTimeIsNotNow(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, e, "a").join()
		requireNone(t, room.NoLease, probe(t, e, 0, 1000, 0), "1970-01-01T00:00:00Z")
		requireNone(t, room.NoLease, probe(t, e, -62135596800000, -62135596799000, 0), "year 1")
	})
}

func TestMessageOutsideEveryLeaseHasNone(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		requireNone(t, room.NoLease, probe(t, e, 0, 0, 0), "a room that was never used")
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.joinFor(200 * time.Millisecond).Lease
		b.join()
		passUntil(t, rdb, first.ExpiresAt+20)
		second := b.stand().Lease
		require.Equal(t, int64(2), second.Ticket)
		passUntil(t, rdb, second.GrantedAt+1)

		requireLease(t, room.Late, first, probe(t, e, first.ExpiresAt-1, first.ExpiresAt, 0),
			"before the expiry")
		requireNone(t, room.NoLease, probe(t, e, first.ExpiresAt, second.GrantedAt, 0),
			"between the expiry and a late handoff")
		requireLease(t, room.Late, first, probe(t, e, first.ExpiresAt-1, second.GrantedAt, 0),
			"up to the late handoff")
		requireLease(t, room.Matched, second, probe(t, e, first.ExpiresAt, second.GrantedAt+1, 0),
			"into the late handoff")
		b.leave(room.Completed)
		passUntil(t, rdb, storeNow(t, rdb)+20)
		requireNone(t, room.NoLease, probeNow(t, e, 20*time.Millisecond),
			"now, with the lock free and every code there")
	})
}

func TestExpiryIsNoticedByTheMatchWhichThenIsLateAndTheNextHasTheLock(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		const lease = 100 * time.Millisecond
		e := room.New(rdb, room.Config{Lease: lease})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join().Lease
		b.join()
		passUntil(t, rdb, first.ExpiresAt)
		m := match(t, e, sms("m", first.GrantedAt, first.GrantedAt+1))
		requireLease(t, room.Late, first, m, "it was over")
		require.Equal(t, first.ExpiresAt, m.Ended)
		require.Equal(t, room.Expired, a.stand().Outcome)
		passUntil(t, rdb, storeNow(t, rdb)+lease.Milliseconds()+20) // until b's lease is over as well
		requireNone(t, room.Ambiguous, probeNow(t, e, 20*time.Millisecond),
			"the lock is free, and the last holder may have asked")
	})
}

func TestLateReachesBackADay(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	begin := time.Now().Truncate(time.Millisecond)
	embedded.SetTime(begin)
	e := room.New(rdb, room.Config{})
	first := newSeller(t, e, "a").join().Lease
	day := begin.Add(24 * time.Hour)
	embedded.SetTime(day)
	requireLease(t, room.Late, first, probe(t, e, first.GrantedAt, first.GrantedAt+1, 0), "a day ago")
	embedded.SetTime(day.Add(time.Millisecond))
	requireNone(t, room.NoLease, probe(t, e, first.GrantedAt, first.GrantedAt+1, 0), "over a day ago")
	requireNone(t, room.NoLease, probe(t, e, first.GrantedAt, first.GrantedAt+1, time.Minute),
		"the guard does not reach further back")
	requireLease(t, room.Late, first, probe(t, e, first.GrantedAt+1, first.GrantedAt+2, time.Second),
		"nor does it reach less far")

	newSeller(t, e, "b").join()
	requireNone(t, room.NoLease, probe(t, e, first.GrantedAt, first.GrantedAt+1, 48*time.Hour),
		"too old is never the current lease's, however wide the guard")
}

func TestLeaseWithoutLengthIsNotPassedOver(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	begin := time.Now().Truncate(time.Millisecond)
	embedded.SetTime(begin)
	e := room.New(rdb, room.Config{})
	a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
	first := a.join().Lease
	a.leave(room.Completed)
	at := first.GrantedAt
	requireLease(t, room.Late, first, probe(t, e, at, at+1, 0), "it was held within that millisecond")
	requireNone(t, room.NoLease, probe(t, e, at-1, at, 0), "before")
	second := b.join().Lease
	require.Equal(t, at, second.GrantedAt)
	requireNone(t, room.Ambiguous, probe(t, e, at, at+1, 0), "two were held within that millisecond")
	embedded.SetTime(begin.Add(time.Second))
	requireLease(t, room.Matched, second, probe(t, e, at+1, at+2, 0), "after")
}

func TestKeptLeaseGoesOnAndMayHaveSeveralMessages(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{Journal: 100})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		first := a.join()
		before := b.join()
		for _, id := range []string{"m1", "m2"} {
			q := sms(id, 0, 0)
			q.Keep = true
			m := match(t, e, q)
			requireLease(t, room.Matched, first.Lease, m, id)
			require.Equal(t, m.At, m.Ended, "it goes on")
			require.False(t, m.Completes)
			require.NoError(t, e.SettleMatch(t.Context(), integration, id, 0, true))
		}
		after := a.stand()
		require.Equal(t, room.Locked, after.Status)
		require.Equal(t, before.Version, after.Version, "no state changed")
		_, seats, err := e.Look(t.Context(), integration, a.session)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"text of m1", "text of m2"}, texts(seats[0].Messages))
	})
}
