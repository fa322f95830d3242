package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// These tests try to have a code shown to the wrong session, or left unmatched.

func TestClaimedMessageThatComesAgainIsItsOwnersStill(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	id, _ := d.sms(saying("인증번호 482913"))
	x, err := a.claim(id)
	require.NoError(t, err)
	require.NoError(t, d.engine.SettleMatch(d.Context(), integration, id, 0, true))
	d.pass(time.Second)
	_, m := d.sms(saying("인증번호 482913"))
	require.True(t, m.Duplicate)
	require.Equal(t, x.Fence, m.Fence)
	require.Equal(t, room.Locked, b.stand().Status)
	require.Empty(t, messages(t, d.engine, b.session))
}

func TestRejectedTextLeavesEveryAskItAnsweredOpen(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	d.pass(3 * time.Second)
	a.expect()
	id, m := d.sms(saying("인증번호 482913"))
	d.pass(time.Second)
	_, again := d.sms(saying("인증번호 482913"))
	require.True(t, again.Completes)
	ended := d.now
	require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id))
	require.Equal(t, ended.Add(30*time.Second).UnixMilli(), b.busy())
	for range 2 {
		d.pass(time.Second)
		_, own := d.sms()
		require.Equal(t, room.Late, own.Result)
		require.Equal(t, m.Fence, own.Fence)
	}
	b.expect()
}

func TestMatchThatTheLedgerRefusedAnsweredNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	d.pass(time.Second)
	m := match(t, d.engine, sms("refused", d.now.UnixMilli(), d.now.UnixMilli()+1))
	require.True(t, m.Judge)
	ended := d.now
	require.NoError(t, d.engine.SettleMatch(d.Context(), integration, "refused", 0, false))
	require.Equal(t, ended.Add(30*time.Second).UnixMilli(), b.busy())
	require.NoError(t, d.engine.SettleMatch(d.Context(), integration, "refused", 0, false))
	d.pass(time.Second)
	_, own := d.sms()
	require.Equal(t, room.Late, own.Result)
	require.Equal(t, m.Fence, own.Fence)
}

func TestAnyNumberOfFiltersIsTwoRoundTripsAtTheMost(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	trips := &roundTrips{}
	client.AddHook(trips)
	keys := room.Config{Keys: seal.NewKeyring([]byte("one secret of all replicas"))}
	e, elsewhere := room.New(client, keys), room.New(client, keys)
	a := newSeller(t, e, "a")
	join := func() {
		_, err := e.Join(t.Context(), integration,
			room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
		require.NoError(t, err)
	}
	join()
	a.expect()
	text := func(id string) room.MatchRequest {
		q := sms(id, 0, 0)
		q.Shown.Text = "the same"
		return q
	}
	require.Equal(t, room.Matched, match(t, e, text("first")).Result)
	require.NoError(t, e.SettleMatch(t.Context(), integration, "first", 0, true))
	for i := range 7 {
		join()
		for k := range 10 {
			q := a.request()
			q.Filter.Contains = fmt.Sprint("x", i, ".", k)
			_, err := e.Expect(t.Context(), integration, q)
			require.NoError(t, err)
		}
		a.leave(room.Cancelled)
	}
	match(t, elsewhere, sms("the script is loaded", 1, 2))
	before := trips.Load()
	require.True(t, match(t, elsewhere, text("again")).Duplicate)
	require.EqualValues(t, 2, trips.Load()-before)
}

// Which lease the part belongs to depends on an ask of seller a's earlier turn, and on the filter of its
// later turn.
func TestPartOfALongMessageIsTwoRoundTripsAtTheMost(t *testing.T) {
	d := newDesk(t, room.Config{})
	client := redis.NewClient(&redis.Options{Addr: d.store.Addr()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	trips := &roundTrips{}
	client.AddHook(trips)
	elsewhere := room.New(client, d.engine.Config())
	part := func(n int) func(*room.MatchRequest) {
		return func(q *room.MatchRequest) { q.Sender, q.Part = shop, room.Part{Ref: "r", Parts: 3, Part: n} }
	}
	start, a := d.now, d.asker("a")
	a.only(shop)
	for range 2 { // sent twice, as if another message had the same ref
		_, m := d.sms(part(1), without)
		require.Equal(t, room.Matched, m.Result)
	}
	a.leave(room.Cancelled)
	a.again(d, "a")
	d.at(start, 40)
	a.only(shop)
	match(t, elsewhere, sms("the script is loaded", 1, 2))
	before := trips.Load()
	q := sms("part", d.now.UnixMilli(), d.now.UnixMilli()+1)
	part(2)(&q)
	require.Equal(t, room.Late, match(t, elsewhere, q).Result)
	require.EqualValues(t, 2, trips.Load()-before)
}

func TestRepeatedKeyWithAnotherFilterChangesNothing(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	q := a.request()
	q.Key, q.Filter.From = "k", []string{"15881234"}
	_, err := d.engine.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	q.Filter.From = []string{"999"}
	_, err = d.engine.Expect(d.Context(), integration, q)
	require.ErrorIs(t, err, room.ErrKeyReused)
	q.MessageID = "none"
	_, err = d.engine.Expect(d.Context(), integration, q)
	require.ErrorIs(t, err, room.ErrKeyReused, "a claim is no repeat of an ask")
	_, m := d.sms(from("15881234"))
	require.Equal(t, room.Matched, m.Result)
}

func TestMessageThatMayHaveBeenSentBeforeAPlainLeaseIsNotSurelyItsOwn(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(31*time.Second + 400*time.Millisecond)
	b := d.plain("b")
	d.pass(100 * time.Millisecond)
	_, m := d.sms(func(q *room.MatchRequest) { q.From -= q.From % 1000; q.To = q.From + 1000 })
	requireNone(t, room.Ambiguous, m, "sent before b's lease it is a's")
	require.Equal(t, room.Locked, b.stand().Status)
	_, m = d.sms()
	require.Equal(t, room.Matched, m.Result)
}

func TestIncidentIsJournalledOnceHoweverManyTripsTheMatchTook(t *testing.T) {
	d := newDesk(t, room.Config{})
	a := d.asker("a")
	keys := seal.NewKeyring([]byte("one secret of all replicas"))
	d.engine = room.New(d.rdb, room.Config{Journal: 10_000, Keys: keys})
	elsewhere := room.New(d.rdb, room.Config{Journal: 10_000, Keys: keys})
	q := a.request()
	q.Filter.From = []string{"15881234"}
	_, err := elsewhere.Expect(d.Context(), integration, q)
	require.NoError(t, err)
	d.sms(ago(-100 * time.Second))
	require.Len(t, d.records("incident"), 1)
}

func TestLeaseThatKeptACodeHasOneWhateverItRejected(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.plain("a"), d.asker("b")
	keep := func(q *room.MatchRequest) { q.Keep = true }
	id, m := d.sms(keep)
	d.sms(keep)
	require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, id))
	a.leave(room.Completed)
	b.expect()
}

// Seller b asked when a's ask had its answer. Then a rejected that answer.
func TestCodeIsUnmatchedWhereARejectedAnswerLeavesTwoAsksOpen(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	d.pass(time.Second)
	stray, m := d.sms()
	b.expect()
	d.pass(time.Second)
	require.NoError(t, d.engine.Reject(d.Context(), integration, a.session, m.Fence, stray))
	_, own := d.sms()
	requireNone(t, room.Ambiguous, own, "a's or b's")
	require.Empty(t, messages(t, d.engine, b.session))
	d.pass(29 * time.Second)
	_, own = d.sms()
	require.Equal(t, room.Matched, own.Result, "past the quarantine of a's ask it is b's")
}

// Seller b asked between seller a's first ask and the message. That a had a second turn since changes
// nothing.
func TestDisplacedCodeIsUnmatchedThoughTheFirstAskerHadAnotherTurn(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(31 * time.Second)
	b.expect()
	d.sms()
	_, err := d.engine.Join(d.Context(), integration,
		room.JoinRequest{Session: a.session, Seller: "a", Asks: true})
	require.NoError(t, err)
	d.pass(time.Second)
	a.expect()
	d.sms()
	d.pass(time.Second)
	_, m := d.sms()
	requireNone(t, room.Ambiguous, m, "a's first, or b's own")
}

func TestDisplacedCodeIsUnmatchedAlsoAtTheEdgeOfTheQuarantine(t *testing.T) {
	d := newDesk(t, room.Config{})
	d.pass(300 * time.Millisecond)
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	a.leave(room.Cancelled)
	d.pass(30*time.Second + 50*time.Millisecond)
	b.expect()
	d.pass(10 * time.Millisecond)
	d.sms()
	d.pass(10 * time.Millisecond)
	_, m := d.sms(func(q *room.MatchRequest) { q.From -= q.From % 1000; q.To = q.From + 1000 })
	requireNone(t, room.Ambiguous, m, "its second begins within a's quarantine and ends after it")
}

func TestMessageThatMayBeOfTheLeaseBeforeIsNotOffered(t *testing.T) {
	d := newDesk(t, room.Config{})
	a, b := d.asker("a"), d.asker("b")
	a.expect()
	d.pass(300 * time.Millisecond)
	d.sms()
	d.pass(300 * time.Millisecond)
	second := func(q *room.MatchRequest) { q.From -= q.From % 1000; q.To = q.From + 1000 }
	_, m := d.sms(second)
	requireNone(t, room.NotExpected, m, "no session asked")
	require.Empty(t, offers(t, d.engine, b.session))
	d.pass(time.Second)
	d.sms(second)
	require.Len(t, offers(t, d.engine, b.session), 1)
}
