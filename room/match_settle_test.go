package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

const (
	inboxKey = "{integration}:inbox"
	textsKey = "{integration}:texts"
)

func messages(t require.TestingT, e *room.Engine, session string) []room.Message {
	_, seats, err := e.Look(context.Background(), integration, session)
	require.NoError(t, err)
	return seats[0].Messages
}

func TestHolderSeesAMessageOnlyOnceTheLedgerAgreed(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a, b := newSeller(t, e, "a"), newSeller(t, e, "b")
		a.join()
		b.join()
		code := "482913"
		q := sms("m", 0, 0)
		q.Shown = room.Message{Text: `[쿠팡] "인증|번호" 482913` + "\n\\", Code: &code}
		m := match(t, e, q)
		want := room.Message{MessageID: "m", Ticket: m.Ticket, Text: q.Shown.Text, Code: &code, ReceivedAt: m.At,
			Fence: m.Fence, ForgetAt: m.At + 600_000}
		require.Empty(t, messages(t, e, a.session), "not settled")

		events := rdb.Subscribe(t.Context(), room.NamesOf(rdb, "").Events(integration))
		defer func() { require.NoError(t, events.Close()) }()
		_, err := events.Receive(t.Context())
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
			require.Equal(t, []room.Message{want}, messages(t, e, a.session))
			require.Empty(t, messages(t, e, b.session), "another's")
		}
		message, err := events.ReceiveMessage(t.Context())
		require.NoError(t, err)
		event, err := room.ParseEvent(message.Payload)
		require.NoError(t, err)
		require.False(t, event.Changed)
		require.Equal(t, a.session, event.Notes[0].Message)
		require.NotContains(t, message.Payload, code)
	})
}

func TestMessageIsForgottenTenMinutesAfterItsMatch(t *testing.T) {
	embedded := redistest.StartEmbedded(t)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	begin := time.Now().Truncate(time.Millisecond)
	embedded.SetTime(begin)
	e := room.New(rdb, room.Config{})
	a := newSeller(t, e, "a")
	a.join()
	match(t, e, sms("m", 0, 0))
	require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
	embedded.SetTime(begin.Add(10*time.Minute - time.Millisecond))
	require.Len(t, messages(t, e, a.session), 1)
	embedded.SetTime(begin.Add(10*time.Minute + time.Millisecond))
	require.Empty(t, messages(t, e, a.session))
	_, err := e.Expire(t.Context(), integration)
	require.NoError(t, err)
	require.False(t, embedded.Exists(inboxKey) || embedded.Exists(textsKey),
		"the text is gone from the store")
}

func TestEachMessageIsForgottenAtItsOwnTime(t *testing.T) {
	d := newDesk(t, room.Config{Lease: 10 * time.Minute})
	d.plain("a")
	for range 2 {
		d.sms(func(q *room.MatchRequest) { q.Keep = true })
		d.pass(4 * time.Minute)
	}
	for _, left := range []int64{2, 1, 0} {
		checked, err := d.engine.Expire(d.Context(), integration)
		require.NoError(t, err)
		require.Equal(t, left, d.rdb.HLen(d.Context(), textsKey).Val())
		require.Equal(t, left, d.rdb.ZCard(d.Context(), inboxKey).Val())
		require.LessOrEqual(t, checked.NextAt, d.now.Add(time.Second).UnixMilli())
		d.pass(4 * time.Minute)
	}
}

func TestInboxGoesAwayByItselfWhateverTheVerdict(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		newSeller(t, e, "a").join()
		ends := func() {
			for _, key := range []string{inboxKey, textsKey} {
				ttl, err := rdb.PTTL(t.Context(), key).Result()
				require.NoError(t, err)
				require.Positive(t, ttl)
				require.LessOrEqual(t, ttl, 10*time.Minute)
			}
		}
		match(t, e, sms("m", 0, 0))
		ends()
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
		ends()
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, false))
		ends()
	})
}

func TestRefusedMessageIsNeverShownAndItsRepeatsAreAmbiguous(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		m := match(t, e, sms("m", 0, 0))
		for range 2 {
			require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, false))
			require.Empty(t, messages(t, e, a.session))
			again := match(t, e, sms("m", 0, 0))
			requireNone(t, room.Ambiguous, again, "a repeat")
			require.Equal(t, m.Epoch, again.Epoch)
			require.Equal(t, m.At, again.At)
		}
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
		require.Empty(t, messages(t, e, a.session), "a replica without the verdict shows nothing")
		requireNone(t, room.Ambiguous, match(t, e, sms("m", 0, 0)), "nor does it change the answer")
		require.Equal(t, room.Completed, a.stand().Outcome, "the lease has ended all the same")
	})
}

func TestLateRefusalWithdrawsTheShownMessage(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		match(t, e, sms("m", 0, 0))
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, false))
		require.Empty(t, messages(t, e, a.session))
		requireNone(t, room.Ambiguous, match(t, e, sms("m", 0, 0)), "a repeat")
	})
}

func TestVerdictOnOneMessageLeavesTheOthersAlone(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		for _, id := range []string{"m1", "m2", "m3"} {
			q := sms(id, 0, 0)
			q.Keep = true
			match(t, e, q)
		}
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m2", 0, true))
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m3", 0, false))
		require.Equal(t, []string{"text of m2"}, texts(messages(t, e, a.session)))
		require.Equal(t, room.Matched, match(t, e, sms("m1", 0, 0)).Result)
		require.NoError(t, e.SettleMatch(t.Context(), integration, "unknown", 0, false))
		require.Equal(t, []string{"text of m2"}, texts(messages(t, e, a.session)))
	})
}

func TestVerdictAfterTheDataIsLostChangesNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		a.join()
		match(t, e, sms("m", 0, 0))
		require.NoError(t, rdb.FlushDB(t.Context()).Err())
		knew := room.New(rdb, room.Config{}) // an engine that has observed nothing of the room
		for _, agreed := range []bool{true, false} {
			require.NoError(t, knew.SettleMatch(t.Context(), integration, "m", 0, agreed))
		}
		keys, err := rdb.Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		require.Empty(t, keys)
	})
}

// A holder that is shown the code of its turn before would type it into the wrong form.
func TestMessageOfAnEarlierTurnIsNotShownInTheNext(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		e := room.New(rdb, room.Config{})
		a := newSeller(t, e, "a")
		lease := a.join().Lease
		messages := func() []room.Message {
			_, seats, err := e.Look(t.Context(), integration, a.session)
			require.NoError(t, err)
			return seats[0].Messages
		}
		_, err := e.Match(t.Context(), integration,
			room.MatchRequest{MessageID: "m", From: lease.GrantedAt, To: lease.GrantedAt + 1,
				Shown: room.Message{Text: "first turn 482913", Code: new("482913")}})
		require.NoError(t, err)
		require.NoError(t, e.SettleMatch(t.Context(), integration, "m", 0, true))
		require.Len(t, messages(), 1, "its turn is over and it is shown")
		require.Equal(t, room.Locked, a.join().Status)
		require.Empty(t, messages())
	})
}

func TestDuplicateThatTheLedgerRefusesAnsweredNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	first := a.expect()
	a.expect()
	d.sms(saying(twin))
	d.pass(time.Second)
	again, m := d.sms(saying(twin))
	require.True(t, m.Duplicate)
	require.True(t, m.Completes, "its second ask is answered, too")
	for range 2 { // a verdict may be sent again
		d.settle(again, false)
	}
	d.pass(time.Second)
	_, err := d.engine.Expect(t.Context(), integration, b.request())
	require.ErrorIs(t, err, room.ErrNumberBusy, "the code for a's second ask is still to come")
	_, m = d.sms()
	require.Equal(t, room.Late, m.Result)
	require.Equal(t, first.Fence, m.Fence)
	d.settle(again, false)
	_, err = d.engine.Expect(t.Context(), integration, b.request())
	require.NoError(t, err, "that has come by now")
}

func TestRefusedDuplicateOpensNoAskThatAnotherMessageHasAnswered(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	first := a.expect()
	a.expect()
	wrong, _ := d.sms(saying(twin))
	d.pass(time.Second)
	again, m := d.sms(saying(twin))
	require.True(t, m.Duplicate)
	require.NoError(t, d.engine.Reject(t.Context(), integration, a.session, first.Fence, wrong),
		"both asks are open again")
	for range 2 {
		_, m = d.sms()
		require.Equal(t, first.Fence, m.Fence)
	}
	d.settle(again, false)
	_, m = d.sms()
	requireNone(t, room.NoLease, m, "both asks keep their answers")
}
