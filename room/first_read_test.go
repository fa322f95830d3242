package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// Redis was away when the replica first read the message, so the carrier sends it again. The carrier's clock
// is fast.
func TestMessageThatComesAgainWasNotSentAfterItWasFirstRead(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.pass(10 * time.Second)
	read := d.now.UnixMilli()
	a.leave(room.Cancelled)
	b := d.asker("b")
	d.pass(30 * time.Second)
	b.expect()
	d.pass(10 * time.Second)
	_, m := d.sms(func(q *room.MatchRequest) {
		q.From, q.To, q.ReadAt, q.Again = read+33_000, read+33_001, read, true
	})
	requireNone(t, room.Ambiguous, m,
		"a's, whose ask came before its first read; or b's, by the carrier's clock")
	require.Equal(t, room.Locked, b.stand().Status)
}

func TestMessageIsForgottenInTimeThoughTheClockIsSetBack(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.sms()
	require.Len(t, messages(t, d.engine, a.session), 1)
	d.pass(-time.Hour)
	require.Len(t, messages(t, d.engine, a.session), 1)
	left := d.rdb.ZRangeWithScores(t.Context(), "{integration}:inbox", 0, -1).Val()
	require.Len(t, left, 1)
	require.Equal(t, float64(d.now.Add(10*time.Minute).UnixMilli()), left[0].Score)
}

// A replica's estimate of Redis's time may be too early. The lease that asked gets the message all the same.
func TestFirstMessagesTimeIsBelievedWhateverItsEstimatedReadTime(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	d.pass(5 * time.Second)
	a.leave(room.Cancelled)
	b := d.asker("b")
	d.pass(30 * time.Second)
	b.expect()
	d.pass(time.Second)
	_, m := d.sms(ago(200*time.Millisecond), func(q *room.MatchRequest) {
		q.ReadAt = d.now.UnixMilli() - 2500
	})
	require.Equal(t, room.Matched, m.Result)
	require.Equal(t, room.Completed, b.stand().Outcome)
}
